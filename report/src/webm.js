// SPDX-License-Identifier: Apache-2.0
// An animation as a WebM file: pictures compressed as VP9 by the browser (WebCodecs), in a container written here (EBML, RFC
// 8794; Matroska, RFC 9559). Unlike a recording, no picture is late or left out, and length and places to seek to are known.

const WEBM_CODEC = 'vp09.00.31.08'; // profile 0 (8 bits, 4:2:0), level 3.1: up to 983040 pixels
const WEBM_KEY_SECONDS = 2; // between pictures that stand alone; each begins a cluster
const WEBM_BITS_PER_PIXEL = 0.1; // of each picture, on average: lines and letters stay sharp
const WEBM_WAITING = 4; // pictures given to the encoder that it has not taken yet

const WEBM = {
  EBML: 0x1a45dfa3, EBMLVersion: 0x4286, EBMLReadVersion: 0x42f7, EBMLMaxIDLength: 0x42f2, EBMLMaxSizeLength: 0x42f3, DocType: 0x4282, DocTypeVersion: 0x4287, DocTypeReadVersion: 0x4285,
  Segment: 0x18538067, Info: 0x1549a966, TimestampScale: 0x2ad7b1, Duration: 0x4489, MuxingApp: 0x4d80, WritingApp: 0x5741,
  Tracks: 0x1654ae6b, TrackEntry: 0xae, TrackNumber: 0xd7, TrackUID: 0x73c5, TrackType: 0x83, FlagLacing: 0x9c, CodecID: 0x86, DefaultDuration: 0x23e383,
  Video: 0xe0, PixelWidth: 0xb0, PixelHeight: 0xba, Colour: 0x55b0, MatrixCoefficients: 0x55b1, Range: 0x55b9, TransferCharacteristics: 0x55ba, Primaries: 0x55bb,
  Cues: 0x1c53bb6b, CuePoint: 0xbb, CueTime: 0xb3, CueTrackPositions: 0xb7, CueTrack: 0xf7, CueClusterPosition: 0xf1,
  Cluster: 0x1f43b675, Timestamp: 0xe7, SimpleBlock: 0xa3,
}; // prettier-ignore

// Names of WebCodecs as numbers of ISO/IEC 23091-4, which Matroska takes.
const WEBM_PRIMARIES = { bt709: 1, bt470bg: 5, smpte170m: 6, bt2020: 9 };
const WEBM_TRANSFER = { bt709: 1, smpte170m: 6, linear: 8, 'iec61966-2-1': 13 };
const WEBM_MATRIX = { rgb: 0, bt709: 1, bt470bg: 5, smpte170m: 6, 'bt2020-ncl': 9 };

/** A whole number, most significant byte first, in as few bytes as hold it, at least `least`. */
function webm_bytes(value, least = 1) {
  const bytes = [];
  for (let rest = value; rest > 0 || bytes.length < least; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

/** An element: number, size, content (a number, a text, bytes, or a list of elements). Its bytes in pieces. */
function webm_element(id, content) {
  let pieces;
  if (Array.isArray(content)) pieces = content.flat();
  else if (typeof content === 'number') pieces = [Uint8Array.from(webm_bytes(content))];
  else if (typeof content === 'string') pieces = [new TextEncoder().encode(content)];
  else pieces = [content];
  const size = webm_bytes(pieces.reduce((sum, piece) => sum + piece.length, 0), 8);
  size[0] |= 1; // a size of eight bytes
  return [Uint8Array.from([...webm_bytes(id), ...size]), ...pieces];
}

const webm_length = (pieces) => pieces.reduce((sum, piece) => sum + piece.length, 0);

function webm_double(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

/**
 * The file of compressed pictures. `pictures`: [{milliseconds, key, data}] in order of time, the first one a key; `size`: pixels;
 * `seconds`: of one picture; `colour`: a VideoColorSpace or null.
 */
function webm_file(pictures, size, seconds, colour) {
  const E = (name, content) => webm_element(WEBM[name], content);
  const clusters = [];
  for (const picture of pictures) {
    if (picture.key) clusters.push({ at: picture.milliseconds, blocks: [] });
    const cluster = clusters[clusters.length - 1];
    const head = [0x81, ...webm_bytes(picture.milliseconds - cluster.at, 2), picture.key ? 0x80 : 0]; // track 1
    cluster.blocks.push(E('SimpleBlock', [Uint8Array.from(head), picture.data]));
  }
  const known = colour ? [['MatrixCoefficients', WEBM_MATRIX[colour.matrix]], ['Range', colour.fullRange ? 2 : 1], ['TransferCharacteristics', WEBM_TRANSFER[colour.transfer]], ['Primaries', WEBM_PRIMARIES[colour.primaries]]] : [];
  const colours = known.filter(([, value]) => value !== undefined).map(([name, value]) => E(name, value));
  const info = E('Info', [E('TimestampScale', 1e6), E('MuxingApp', 'stickslip'), E('WritingApp', 'stickslip'), E('Duration', webm_double(1000 * seconds * pictures.length))]);
  const video = E('Video', [E('PixelWidth', size[0]), E('PixelHeight', size[1]), ...(colours.length ? [E('Colour', colours)] : [])]);
  const track = E('TrackEntry', [E('TrackNumber', 1), E('TrackUID', 1), E('TrackType', 1), E('FlagLacing', 0), E('DefaultDuration', Math.round(1e9 * seconds)), E('CodecID', 'V_VP9'), video]);
  const tracks = E('Tracks', [track]);
  const bodies = clusters.map((cluster) => E('Cluster', [E('Timestamp', cluster.at), ...cluster.blocks]));
  // Positions stand in eight bytes, so that the size of the cues does not depend on them.
  const cues = (first) => {
    let place = first;
    const points = clusters.map((cluster, k) => {
      const point = E('CuePoint', [E('CueTime', cluster.at), E('CueTrackPositions', [E('CueTrack', 1), E('CueClusterPosition', Uint8Array.from(webm_bytes(place, 8)))])]);
      place += webm_length(bodies[k]);
      return point;
    });
    return E('Cues', points);
  };
  const before = webm_length(info) + webm_length(tracks);
  const places = cues(before + webm_length(cues(0)));
  const head = E('EBML', [E('EBMLVersion', 1), E('EBMLReadVersion', 1), E('EBMLMaxIDLength', 4), E('EBMLMaxSizeLength', 8), E('DocType', 'webm'), E('DocTypeVersion', 2), E('DocTypeReadVersion', 2)]);
  return new Blob([...head, ...E('Segment', [info, tracks, places, ...bodies])], { type: 'video/webm' });
}

class WebmWriter {
  /** Whether this browser has an encoder; pages from the disk and of this machine may use it. */
  static available() {
    return typeof VideoEncoder === 'function' && typeof VideoFrame === 'function';
  }

  constructor(width, height, seconds_per_picture) {
    Object.assign(this, { size: [width, height], seconds: seconds_per_picture, pictures: [], count: 0, colour: null, failed: null });
    this.every = Math.max(1, Math.round(WEBM_KEY_SECONDS / seconds_per_picture));
    this.encoder = new VideoEncoder({
      output: (chunk, about) => {
        const data = new Uint8Array(chunk.byteLength);
        chunk.copyTo(data);
        this.colour ||= about?.decoderConfig?.colorSpace || null;
        this.pictures.push({ milliseconds: Math.round(chunk.timestamp / 1000), key: chunk.type === 'key', data });
      },
      error: (error) => (this.failed = error),
    });
    const rate = 1 / seconds_per_picture;
    this.encoder.configure({ codec: WEBM_CODEC, width, height, framerate: rate, bitrate: Math.round(WEBM_BITS_PER_PIXEL * width * height * rate) });
  }

  /** The canvas as it is; waits while the encoder is behind. */
  async add(canvas) {
    const frame = new VideoFrame(canvas, { timestamp: Math.round(1e6 * this.seconds * this.count), duration: Math.round(1e6 * this.seconds), alpha: 'discard' });
    this.encoder.encode(frame, { keyFrame: this.count % this.every === 0 });
    frame.close();
    this.count++;
    while (!this.failed && this.encoder.encodeQueueSize > WEBM_WAITING) await new Promise((resolve) => setTimeout(resolve, 5));
    if (this.failed) throw this.failed;
  }

  async blob() {
    await this.encoder.flush();
    this.encoder.close();
    return webm_file(this.pictures, this.size, this.seconds, this.colour);
  }
}
