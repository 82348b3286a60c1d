import { expect, test } from 'vitest';
import { agent, type Change, client, decide, recordWith, serving } from '../../../test/kit/csr-facts.ts';

const evil = `\u202etoor\u200b${'a'.repeat(9000)}`;
const odd: [about: string, base: Change, change: Change][] = [
  ['a common name', agent, { commonNames: [evil], username: 'system:wicd-node:win-1', credentialId: undefined }],
  ['the common name of a server', serving, { commonNames: [`system:node:${evil}`] }],
  ['the name of a node', agent, { commonNames: [`system:wicd-node:${evil}`] }],
  ['a requester', agent, { username: evil }],
  ['a signer', agent, { signerName: evil }],
  ['usages', agent, { usages: [evil] }],
  ['an organization', agent, { organizations: [evil] }],
  ['a further part', client, { attributes: [[`2.5.4${'.5'.repeat(25)}`, evil]] }],
  ['a part without end', client, { attributes: [[`2.5.4${'.5'.repeat(4000)}`, 'x']] }],
  ['URIs', serving, { uris: [`a:${'b'.repeat(9000)}`] }],
  ['names that nobody knows', serving, { dnsNames: ['d'.repeat(9000)] }],
  ['recorded names', serving, { ...recordWith({ servingNames: [evil] }), dnsNames: ['x'] }],
  ['an unknown subject', client, { commonNames: [evil] }],
];
for (const [about, base, change] of odd) {
  test(`reports ${about} in a short line of plain text`, () => {
    const said = decide(base, change);
    const text = [said.do === 'approve' ? '' : said.why, said.do === 'refuse' ? said.event.message : ''].join('');
    expect(said.do).not.toBe('approve');
    expect(text).toMatch(/^[\p{L}\p{N}\p{P}\p{S} ]+$/u);
    expect(text.length).toBeLessThan(1500);
  });
}
