/** A tar archive of one file, with nothing in it that differs between two runs. */
export async function* tarOfFile(
  name: string,
  bytes: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield header(name, bytes);
  yield* content;
  const padding = (512 - (bytes % 512)) % 512;
  // Two empty blocks end an archive.
  yield Buffer.alloc(padding + 1024);
}

/** POSIX ustar; names are those of programs, and short. */
function header(name: string, bytes: number): Buffer {
  const block = Buffer.alloc(512);
  const fields: [offset: number, text: string][] = [
    [0, name],
    [100, '0000644\0'],
    [108, '0000000\0'],
    [116, '0000000\0'],
    [124, `${bytes.toString(8).padStart(11, '0')}\0`],
    [136, `${'0'.repeat(11)}\0`],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\0'],
    [263, '00'],
  ];
  for (const [offset, text] of fields) block.write(text, offset, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
