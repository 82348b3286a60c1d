import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { isAppError } from '#base/errors.ts';
import { writeWire } from '#base/ssh-wire.ts';
import { authorizedKeysFile as path, dir } from '#contract/paths.ts';
import { ModelFiles } from '../../../test/kit/model-files.ts';
import { right, sid } from '../access/descriptor.ts';
import { descriptorOf } from '../access/plan.ts';
import { changeKeys } from './change-keys.ts';

const keyOf = (number: number) => ({
  type: 'ssh-ed25519',
  blob: Uint8Array.from(writeWire('ssh-ed25519', new Uint8Array(32).fill(number))),
});
const lineOf = ({ type, blob }: ReturnType<typeof keyOf>) => `${type} ${toBase64(blob)}\n`;
const [oldKey, newKey] = [keyOf(1), keyOf(2)];
const user = 'S-1-5-21-1-2-3-1001';
const writable = {
  owner: sid.administrators,
  entries: [{ allows: true, sid: sid.users, mask: right.create, inheritOnly: false }],
};

/** A host with a file of keys; `hook` runs before each change. */
async function filesWith(content: string | Uint8Array | undefined, hook?: (call: string) => void): Promise<ModelFiles> {
  const files = new ModelFiles(hook, hook);
  await files.makeDirectory(dir.ssh);
  if (content !== undefined) {
    files.texts.set(path, content);
    files.rights.set(path, 'secret');
  }
  return files;
}
const secret = descriptorOf('secret');

test('creates the file for administrators alone', async () => {
  const files = await filesWith(undefined);
  expect(await changeKeys({ add: newKey }, files)).toEqual({ added: true, removed: 0, file: path });
  expect([files.texts.get(path), files.rights.of(path)]).toEqual([lineOf(newKey), secret]);
});

test('exchanges keys in one write, and writes nothing when it is repeated', async () => {
  const calls: string[] = [];
  const files = await filesWith(lineOf(oldKey), call => void calls.push(call));
  const change = { add: newKey, remove: oldKey };
  expect(await changeKeys(change, files)).toEqual({ added: true, removed: 1, file: path });
  expect(files.texts.get(path)).toBe(lineOf(newKey));
  const writes = calls.length;
  expect(await changeKeys(change, files)).toEqual({ added: false, removed: 0, file: path });
  expect([writes, calls.length]).toEqual([writes, writes]);
});

test('does not create a file to remove a key from it', async () => {
  const files = await filesWith(undefined);
  expect(await changeKeys({ remove: oldKey }, files)).toMatchObject({ added: false, removed: 0 });
  expect(files.has(path)).toBe(false);
});

test('converts a file that sshd cannot read, and says so', async () => {
  const content = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(lineOf(newKey), 'utf16le')]);
  const files = await filesWith(content);
  expect(await changeKeys({ add: newKey }, files)).toEqual({
    added: false,
    removed: 0,
    file: path,
    converted: 'UTF-16',
  });
  expect(files.texts.get(path)).toBe(lineOf(newKey));
});

test('writes a file again that others can read, with the same content', async () => {
  const files = await filesWith(lineOf(newKey));
  files.rights.set(path, 'programs');
  expect(await changeKeys({ add: newKey }, files)).toMatchObject({ added: false });
  expect([files.texts.get(path), files.rights.of(path)]).toEqual([lineOf(newKey), secret]);
});

test('an interruption at any point leaves the old or the new file', async () => {
  const seen = new Set<string | undefined>();
  for (let point = 0, isDone = false; !isDone; point += 1) {
    let callsLeft = Infinity;
    const files = await filesWith(lineOf(oldKey), () => {
      callsLeft -= 1;
      if (callsLeft < 0) throw new Error('killed');
    });
    callsLeft = point;
    isDone = await changeKeys({ add: newKey, remove: oldKey }, files).then(
      () => true,
      () => false,
    );
    seen.add(files.texts.get(path));
    expect(files.rights.of(path)).toEqual(secret);
    if (point > 20) throw new Error('too many calls');
  }
  expect(seen).toEqual(new Set([lineOf(oldKey), lineOf(newKey)]));
});

type Prepare = (files: ModelFiles) => unknown;
const unsafe: [name: string, prepare: Prepare, message: string][] = [
  ['no folder of sshd', files => files.removeDirectory(dir.ssh), `${dir.ssh} does not exist`],
  ['a link in place of the folder', files => files.rights.plantLink(dir.ssh), `${dir.ssh} is a link`],
  ['a link above it', files => files.rights.plantLink('C:\\ProgramData'), 'C:\\ProgramData is a link'],
  ['a folder that users can write to', files => files.rights.set(dir.ssh, writable), `${dir.ssh} gives the rights`],
  ['a link in place of the file', files => files.rights.plantLink(path), `${path} is a link`],
  ['a file of a user', files => files.rights.set(path, { ...secret, owner: user }), `${path} belongs to ${user}`],
  ['a file that users can write to', files => files.rights.set(path, writable), `${path} gives the rights`],
  ['a file without access list', files => files.rights.set(path, { ...secret, entries: undefined }), 'no access list'],
  [
    'a folder in place of the file',
    files => files.remove(path).then(() => files.makeDirectory(path)),
    'is a directory',
  ],
  ['a large file', files => files.texts.set(path, 'x'.repeat((1 << 20) + 1)), 'larger than 1048576 bytes'],
  ['a file that would be too large', files => files.texts.set(path, 'x'.repeat(1 << 20)), 'larger than 1048576 bytes'],
  ['too many lines', files => files.texts.set(path, '\n'.repeat(10_001)), 'more than 10000 lines'],
  ['a broken encoding', files => files.texts.set(path, Buffer.of(0xff, 0xfe, 0x41)), 'begins as UTF-16'],
];
for (const [name, prepare, message] of unsafe) {
  test(`refuses to change anything with ${name}`, async () => {
    let writes = 0;
    const files = await filesWith(lineOf(oldKey), call => void (call.startsWith('write') && (writes += 1)));
    await prepare(files);
    const failure: unknown = await changeKeys({ add: newKey }, files).catch((error: unknown) => error);
    if (!isAppError(failure, 'AUTHORIZED_KEYS_UNUSABLE')) throw failure;
    expect(failure.message).toContain(message);
    expect(failure.remedy).toMatch(/\.$|`$/);
    expect(failure.message + failure.remedy).not.toContain('ssh-ed25519');
    expect(writes).toBe(0);
  });
}
