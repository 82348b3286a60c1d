import { sha256 } from '#base/sha256.ts';
import type { CertStore } from '../../ports.ts';
import { type Bound, bindChecked, type Koffi } from '../native.ts';
import { certStoreCalls } from './calls.ts';

type Windows = Bound<keyof typeof certStoreCalls>;

const storeName = String.raw`LocalMachine\ROOT`;
/**
 * The registry part of the store, CERT_STORE_PROV_SYSTEM_REGISTRY_W. The default provider (10) also shows roots of group
 * policies and Windows Update, which the agent did not add and cannot remove.
 */
const registryProvider = 13;
const localMachine = 0x2_00_00;
const readOnly = 0x80_00;
const x509 = 1;
/** Adds it even if one with the same issuer and serial number exists, which may be another certificate. */
const addAlways = 4;
const failIfLeftOpen = 2;

/** The certificates of LocalMachine\ROOT. The store is opened for each call. */
export function openCertStore(koffi: Koffi): CertStore {
  const windows = bindChecked(koffi, certStoreCalls);
  return {
    list: async () => withStore(windows, readOnly, store => listHashes(windows, store)),
    add: async der => withStore(windows, 0, store => addCertificate(windows, store, Buffer.from(der))),
    remove: async hash => withStore(windows, 0, store => removeCertificate(windows, store, hash)),
  };
}

/** Where a CERT_CONTEXT of 64-bit Windows points to the certificate. */
export function decodeContext(context: Buffer): { address: bigint; length: number } {
  return { address: context.readBigUInt64LE(8), length: context.readUInt32LE(16) };
}

export const contextBytes = 40;

function withStore<T>({ call, check }: Windows, flags: number, use: (store: unknown) => T): T {
  const store = check('CertOpenStore', storeName, registryProvider, 0, 0, localMachine | flags, 'ROOT');
  let result: T;
  try {
    result = use(store);
  } catch (error) {
    call.CertCloseStore(store, 0);
    throw error;
  }
  check('CertCloseStore', storeName, store, failIfLeftOpen);
  return result;
}

function listHashes(windows: Windows, store: unknown): string[] {
  const hashes: string[] = [];
  walk(windows, store, (_, hash) => {
    hashes.push(hash);
    return 'next';
  });
  return hashes;
}

function addCertificate(windows: Windows, store: unknown, der: Buffer): void {
  const hash = sha256(der);
  if (listHashes(windows, store).includes(hash)) return;
  const object = `certificate ${hash} in ${storeName}`;
  windows.check('CertAddEncodedCertificateToStore', object, store, x509, der, der.length, addAlways, null);
}

function removeCertificate(windows: Windows, store: unknown, hash: string): void {
  walk(windows, store, (context, found) => {
    if (found !== hash) return 'next';
    windows.check('CertDeleteCertificateFromStore', `certificate ${hash} in ${storeName}`, context);
    return 'done';
  });
}

/** Visits the certificates; a visitor that returns `done` must have freed the context, as a deletion does. */
function walk(windows: Windows, store: unknown, visit: (context: unknown, hash: string) => 'next' | 'done'): void {
  const { call, koffi } = windows;
  let context = call.CertEnumCertificatesInStore(store, null);
  while (context !== null) {
    const { address, length } = decodeContext(bytesAt(koffi, context, contextBytes));
    if (visit(context, sha256(bytesAt(koffi, address, length))) === 'done') return;
    context = call.CertEnumCertificatesInStore(store, context);
  }
}

function bytesAt(koffi: Koffi, address: unknown, length: number): Buffer {
  return Buffer.from(koffi.decode(address, 0, 'uint8_t', length) as Uint8Array);
}
