import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { printPublicKey, type PublicKey } from '#host/keys/public-key.ts';
import { handshakeFailure } from '#host/ssh/handshake-failures.ts';
import { failedStatus } from './instance-status.ts';
import { Journal } from './journal.ts';

const pem = { format: 'pem', type: 'pkcs8' } as const;
const keys: [name: string, PublicKey][] = [
  ['Ed25519', parsePrivateKey(generateKeyPairSync('ed25519').privateKey.export(pem)).publicKey],
  ['RSA', parsePrivateKey(generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey.export(pem)).publicKey],
];

function refused(key: PublicKey): AppError {
  return handshakeFailure({
    peer: { address: 'a-long-name.of-a-host.in-a-long-domain.example.com', port: 22 },
    username: 'Administrator',
    firstLine: '',
    ident: undefined,
    pinnedKey: undefined,
    isAuthenticating: true,
    offeredKeys: [key],
    methodsLeft: ['publickey'],
    isPartial: false,
    error: Object.assign(new Error('refused'), { level: 'client-authentication' }),
  });
}

test.each(keys)('the whole line of an %s key is in the timeline and in the conditions', (_, key) => {
  const journal = new Journal([], systemClock, () => undefined);
  journal.fail('connect', refused(key));
  const view = { journal, reboot: undefined, ipv4: undefined, node: undefined, record: {} };
  const status = failedStatus(view, refused(key), false, { generation: 1, nowMs: 0 })({});
  const command = `'${printPublicKey(key)}'; icacls.exe `;
  expect(status.timeline?.[0]?.lastError?.remedy).toContain(command);
  for (const { message } of status.conditions ?? []) expect(message).toContain(command);
});
