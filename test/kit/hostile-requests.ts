import { printPem } from '../../src/base/pem.ts';
import { signer } from '../../src/contract/names.ts';
import { makeCsr } from './csr.ts';
import { type AskedKind, askedKinds } from './hostile/asked-kinds.ts';
import { randomRequests } from './hostile/random-requests.ts';
import { hostileStructures } from './hostile/structures.ts';
import { hostileTexts } from './hostile/texts.ts';

/** What a thief would send: the text of a request with the rest of the API object. */
export interface HostileRequest {
  name: string;
  signerName: string;
  usages: readonly string[];
  /** `spec.request` before base64. */
  bytes: Uint8Array;
  /** The common name that the server would certify, where it is known that it differs from the one a lenient reader finds. */
  evil?: string;
}

/** Crafted requests for each kind of certificate that the operator approves. */
export function knownAttacks(): HostileRequest[] {
  return askedKinds.flatMap(asked => [...textAttacks(asked), ...structureAttacks(asked), ...termAttacks(asked)]);
}

/** Requests bent by chance; the same seed gives the same ones, but for keys and signatures. */
export function mutatedRequests(count: number, seed: number): HostileRequest[] {
  return randomRequests(count, seed).map(({ asked, how, text }, index) => ({
    ...termsOf(asked),
    name: `${asked.kind}: ${how} (${index} of seed ${seed})`,
    bytes: Buffer.from(text, 'latin1'),
  }));
}

function textAttacks(asked: AskedKind): HostileRequest[] {
  return hostileTexts(asked).map(({ name, text, isEvil }) => ({
    ...termsOf(asked),
    name: `${asked.kind}: text: ${name}`,
    bytes: new TextEncoder().encode(text),
    ...(isEvil === true && { evil: asked.evil.commonNames[0] }),
  }));
}

function structureAttacks(asked: AskedKind): HostileRequest[] {
  return hostileStructures(asked).map(([name, bytes]) => ({
    ...termsOf(asked),
    name: `${asked.kind}: ${name}`,
    bytes: new TextEncoder().encode(printPem('CERTIFICATE REQUEST', bytes)),
  }));
}

/** A good request with other usages, or for another signer. */
function termAttacks(asked: AskedKind): HostileRequest[] {
  const { usages, signerName } = asked;
  const purpose = usages.at(-1) ?? '';
  const other = purpose === 'client auth' ? 'server auth' : 'client auth';
  const lists = [
    ['digital signature', purpose],
    ['digital signature', 'key encipherment', other],
    [...usages, other],
    [...usages, 'cert sign'],
    [...usages, 'crl sign', 'code signing'],
    [...usages, 'any'],
    ['any'],
    [purpose],
    ['cert sign', 'client auth'],
    [],
  ];
  const signers = [...Object.values(signer), 'kubernetes.io/legacy-unknown', 'example.com/signer'];
  const bytes = new TextEncoder().encode(makeCsr(asked.good));
  return [
    ...lists.map(list => ({ name: `${asked.kind}: for ${list.join(', ')}`, signerName, usages: list, bytes })),
    ...signers
      .filter(name => name !== signerName)
      .map(name => ({ name: `${asked.kind}: asked of ${name}`, signerName: name, usages, bytes })),
  ];
}

function termsOf({ signerName, usages }: AskedKind): Pick<HostileRequest, 'signerName' | 'usages'> {
  return { signerName, usages };
}
