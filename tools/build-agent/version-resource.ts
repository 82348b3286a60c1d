/** Shown by Explorer and Task Manager; without it the agent would be "Node.js JavaScript Runtime". */
export interface About {
  description: string;
  product: string;
  fileName: string;
  /** Such as 11.0.0-1a2b3c4: begins with the three numbers. */
  version: string;
}

const magic = Buffer.from('VS_VERSION_INFO', 'utf16le');
/** Length, length of the value and type precede the key. */
const headerBytes = 6;
const english = '040904b0';

/** Overwrites each version resource of the .exe in place. A resource cannot grow, so texts that do not fit are omitted. */
export function replaceVersionResource(exe: Buffer, about: About): void {
  let found = 0;
  for (let at = exe.indexOf(magic); at !== -1; at = exe.indexOf(magic, at + 1)) {
    const start = at - headerBytes;
    const room = exe.readUInt16LE(start);
    const resource = versionResource(about, room);
    exe.fill(0, start, start + room);
    resource.copy(exe, start);
    found += 1;
  }
  if (found === 0) throw new Error('node.exe has no version resource');
}

export function versionResource(about: About, maxBytes: number): Buffer {
  const texts: [string, string][] = [
    ['FileDescription', about.description],
    ['ProductName', about.product],
    ['ProductVersion', about.version],
    ['FileVersion', numbersOf(about.version).join('.')],
    ['OriginalFilename', about.fileName],
  ];
  for (; texts.length > 0; texts.pop()) {
    const resource = describe(texts, about.version);
    if (resource.length <= maxBytes) return resource;
  }
  throw new Error(`a version resource of ${maxBytes} bytes has no room for ${JSON.stringify(about.description)}`);
}

function describe(texts: readonly [string, string][], version: string): Buffer {
  const strings = texts.map(([key, value]) => block(key, { text: value }));
  const translation = Buffer.from(english.replace(/(..)(..)(..)(..)/, '$2$1$4$3'), 'hex');
  return block('VS_VERSION_INFO', { bytes: fixedInfo(version) }, [
    block('StringFileInfo', { text: undefined }, [block(english, { text: undefined }, strings)]),
    block('VarFileInfo', { text: undefined }, [block('Translation', { bytes: translation })]),
  ]);
}

type Value = { text: string | undefined } | { bytes: Buffer };

/** All parts have this structure. Lengths of texts count characters with the terminator, those of bytes count bytes. */
function block(key: string, value: Value, children: readonly Buffer[] = []): Buffer {
  const [isText, bytes] = 'bytes' in value ? [0, value.bytes] : [1, wide(value.text)];
  const head = aligned(Buffer.concat([Buffer.alloc(headerBytes), wide(key)]));
  const whole = children.reduce((sum, child) => Buffer.concat([aligned(sum), child]), Buffer.concat([head, bytes]));
  whole.writeUInt16LE(whole.length, 0);
  whole.writeUInt16LE(isText === 1 ? bytes.length / 2 : bytes.length, 2);
  whole.writeUInt16LE(isText, 4);
  return whole;
}

function wide(text: string | undefined): Buffer {
  return Buffer.from(text === undefined ? '' : `${text}\0`, 'utf16le');
}

function aligned(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

/** VS_FIXEDFILEINFO: signature, structure version, file and product version, flags for a Windows NT program. */
function fixedInfo(version: string): Buffer {
  const [major, minor, patch, build] = numbersOf(version);
  const [high, low] = [major * 65_536 + minor, patch * 65_536 + build];
  const words = [0xfeef04bd, 0x10000, high, low, high, low, 0x3f, 0, 0x40004, 1, 0, 0, 0];
  const info = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => info.writeUInt32LE(word, index * 4));
  return info;
}

function numbersOf(version: string): [number, number, number, number] {
  const [, major, minor, patch] = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(version) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0), Number(patch ?? 0), 0];
}
