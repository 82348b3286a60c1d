import * as fc from 'fast-check';
import { printPem } from '../../../src/base/pem.ts';
import { makeCsrDer, requestInfo, signInfo } from '../csr.ts';
import { type AskedKind, askedKinds } from './asked-kinds.ts';
import { mutateDer, structuralChanges } from './mutated-der.ts';

/** A request by chance: of which kind, how it was bent, and its text, one character for each byte. */
export interface RandomRequest {
  asked: AskedKind;
  how: string;
  text: string;
}

const type = 'CERTIFICATE REQUEST';
const kind = fc.constantFrom(...askedKinds);
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** Plain requests with any names: those must be issued as they were read. */
const plain = fc
  .record({
    asked: kind,
    tail: fc.oneof(
      fc.stringMatching(/^[a-z0-9.-]{1,40}$/),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    ),
    dnsNames: fc.array(fc.stringMatching(/^[A-Za-z0-9.*-]{1,30}$/), { minLength: 1, maxLength: 5 }),
    ips: fc.array(fc.oneof(octets(4), octets(16)), { maxLength: 3 }),
  })
  .map(({ asked, tail, dnsNames, ips }) => {
    const [prefix = ''] = (asked.good.commonNames?.[0] ?? '').split('win1');
    const names = asked.kind === 'kubelet-serving' ? { dnsNames, ips } : {};
    const content = { ...asked.good, ...names, commonNames: [prefix + tail] };
    return { asked, how: 'any names', text: latin1(new TextEncoder().encode(printPem(type, makeCsrDer(content)))) };
  });

function octets(length: number): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(255), { minLength: length, maxLength: length });
}

/** The info bent and signed again, so that the server has no reason to refuse it but what was bent. */
const restructured = fc.record({ asked: kind, changes: structuralChanges }).map(({ asked, changes }) => {
  const how = changes.map(({ what, at }) => `${what} ${at}`).join(', ');
  return { asked, how, text: printPem(type, signInfo(mutateDer(requestInfo(asked.good), changes))) };
});

/** The finished request bent: the parts around the info are reached as well. */
const resealed = fc.record({ asked: kind, changes: structuralChanges }).map(({ asked, changes }) => ({
  asked,
  how: `signed, then ${changes.map(({ what, at }) => `${what} ${at}`).join(', ')}`,
  text: printPem(type, mutateDer(makeCsrDer(asked.good), changes)),
}));

const pieces = [
  '\r',
  '\n',
  '\t',
  ' ',
  '\0',
  ':',
  '=',
  '-',
  'a: b\n',
  '-----END CERTIFICATE REQUEST-----\n',
  '\n\n',
  'x',
  'AAAA',
];

/** The text bent: pieces put in or cut out. */
const rewritten = fc
  .record({
    asked: kind,
    edits: fc.array(fc.record({ at: fc.nat(2000), cut: fc.nat(3), piece: fc.constantFrom('', ...pieces) }), {
      minLength: 1,
      maxLength: 3,
    }),
  })
  .map(({ asked, edits }) => {
    let text = printPem(type, makeCsrDer(asked.good));
    for (const { at, cut, piece } of edits) {
      const start = at % (text.length + 1);
      text = text.slice(0, start) + piece + text.slice(start + cut);
    }
    return {
      asked,
      how: edits.map(({ at, cut, piece }) => `at ${at} ${cut} for ${JSON.stringify(piece)}`).join(', '),
      text,
    };
  });

export function randomRequests(count: number, seed: number): RandomRequest[] {
  const any = fc.oneof(
    { weight: 2, arbitrary: plain },
    { weight: 5, arbitrary: restructured },
    { weight: 1, arbitrary: resealed },
    { weight: 2, arbitrary: rewritten },
  );
  return fc.sample(any, { numRuns: count, seed });
}
