/** A tar archive of texts by path; a path that ends with a slash is a directory. `over` replaces parts of each header. */
export function tarOf(texts: Readonly<Record<string, string | Uint8Array>>, over: { size?: string } = {}): Buffer {
  const parts = Object.entries(texts).flatMap(([path, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
    return [headerOf(path, content.length, over), content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

function headerOf(path: string, bytes: number, { size }: { size?: string }): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write('0000644\0', 100);
  header.write(`${size ?? bytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write(path.endsWith('/') ? '5' : '0', 156);
  header.write('ustar\0', 257);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
