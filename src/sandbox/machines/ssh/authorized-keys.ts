import { whyWritable } from '#agent/access/plan.ts';
import { toLatin1 } from '#base/bytes.ts';
import { type KeyLine, linesOf, readKeyLine } from '#contract/authorized-keys.ts';
import { authorizedKeysFile } from '#contract/paths.ts';
import type { SimulatedFiles } from '../host/files.ts';

/** What sshd reads from the disk: nothing if users could have written it, and no line in an encoding with zeros. */
export async function readAuthorizedKeys(
  files: Pick<SimulatedFiles, 'content' | 'inspect' | 'readAt'>,
): Promise<KeyLine[]> {
  const [content, entry] = [files.content(authorizedKeysFile), await files.inspect(authorizedKeysFile)];
  if (content === undefined || entry === undefined || whyWritable(entry) !== undefined) return [];
  const text = toLatin1(await files.readAt(content, 0, content.bytes));
  return linesOf(text).flatMap(line => readKeyLine(line) ?? []);
}
