import { expect, test } from 'vitest';
import { clientWith, MemoryFiles, modelSftp } from '../../../test/kit/memory-files.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { SftpSession } from './sftp-session.ts';

async function session(files = new MemoryFiles()) {
  const sftp = modelSftp(files);
  return { sftp, files, session: await SftpSession.open(clientWith(sftp), '10.1.2.3') };
}

test('request resolves with the response of the host', async () => {
  const { session: opened } = await session();
  const handle = await opened.request<Buffer>((sftp, done) => sftp.open('/C:/x', 'w', done));
  expect(handle).toHaveLength(4);
});

const limits: [string, said: number | undefined, most: number][] = [
  ['what the library knows', 261_120, 261_120],
  ['no limit where it knows none', undefined, Infinity],
];
for (const [name, said, most] of limits) {
  test(`the longest write is ${name}`, async () => {
    const { sftp, session: opened } = await session();
    Object.assign(sftp, { _maxWriteLen: said });
    expect(opened.maxWriteBytes).toBe(most);
  });
}

test('request rejects with the status', async () => {
  const { session: opened } = await session();
  const failing = opened.request((sftp, done) => sftp.unlink('/C:/none', done));
  await expect(failing).rejects.toMatchObject({ code: 2 });
});

test('request rejects when the library throws', async () => {
  const { session: opened } = await session();
  const refused = opened.request(() => {
    throw new Error('not supported');
  });
  await expect(refused).rejects.toThrow('not supported');
  expect(opened.hasEnded).toBe(false);
});

const ends: [event: string, value: Error | undefined, says: string][] = [
  ['end', undefined, 'ended the SFTP session'],
  ['close', undefined, 'closed the SFTP session'],
  ['error', new Error('Malformed packet'), 'Malformed packet'],
];
for (const [event, value, says] of ends) {
  test(`"${event}" of the session fails what is under way and what comes later`, async () => {
    const files = new MemoryFiles();
    files.fault = () => 'silence';
    const { sftp, session: opened } = await session(files);
    const waiting = [1, 2, 3].map(() => opened.request((raw, done) => raw.unlink('/C:/x', done)));
    sftp.emit(event, value);
    for (const result of await Promise.allSettled(waiting)) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringContaining(says) as string },
      });
    }
    expect(opened.hasEnded).toBe(true);
    const asked = files.log.length;
    await expect(opened.request((raw, done) => raw.unlink('/C:/x', done))).rejects.toThrow(says);
    expect(files.log).toHaveLength(asked);
  });
}

test('request rejects with the first reason of the end', async () => {
  const { sftp, session: opened } = await session();
  sftp.emit('error', new Error('first'));
  sftp.emit('close');
  await expect(opened.request((raw, done) => raw.unlink('/C:/x', done))).rejects.toThrow('first');
});

test('open reports a host without SFTP', async () => {
  const error = await rejectionOf(
    SftpSession.open(clientWith(new Error('Unable to start subsystem: sftp')), '10.1.2.3'),
  );
  expect(error).toMatchObject({
    code: 'HOST_SFTP_MISSING',
    remedy: expect.stringContaining('Subsystem sftp') as string,
  });
});

test('open reports a lost connection', async () => {
  const client = {
    sftp() {
      throw new Error('Not connected');
    },
  };
  const error = await rejectionOf(SftpSession.open(client as never, '10.1.2.3'));
  expect(error).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
});
