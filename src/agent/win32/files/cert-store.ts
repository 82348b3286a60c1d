import { createHash } from 'node:crypto';
import type { CertStore } from '../../ports.ts';
import { certStoreCalls } from './cert-store-calls.ts';
import { bind, type Koffi, type NativeFunction, openLastError } from '../native.ts';
import { windowsError } from '../win32-errors.ts';

interface Certificates extends Record<keyof typeof certStoreCalls, NativeFunction> {
  koffi: Koffi;
  lastError: () => number;
}

const storeName = String.raw`LocalMachine\ROOT`;
/**
 * The registry part of the store, CERT_STORE_PROV_SYSTEM_REGISTRY_W. The usual provider (10) shows it together with roots
 * that policies and Windows Update put elsewhere: those are not ours to see as ours, and cannot be removed through it.
 */
const registryProvider = 13;
const localMachine = 0x2_00_00;
const readOnly = 0x80_00;
const x509 = 1;
/** Without asking whether there is one with the same issuer and number, which need not be the same certificate. */
const addAlways = 4;
const failIfLeftOpen = 2;

/** The certificates of LocalMachine\ROOT. The store is open no longer than a call. */
export function openCertStore(koffi: Koffi): CertStore {
  const calls: Certificates = { ...bind(koffi, certStoreCalls), koffi, lastError: openLastError(koffi) };
  return {
    list: async () => withStore(calls, readOnly, store => listHashes(calls, store)),
    add: async der => withStore(calls, 0, store => addCertificate(calls, store, Buffer.from(der))),
    remove: async sha256 => withStore(calls, 0, store => removeCertificate(calls, store, sha256)),
  };
}

/** Where a CERT_CONTEXT of 64-bit Windows has the certificate itself. */
export function decodeContext(context: Buffer): { address: bigint; length: number } {
  return { address: context.readBigUInt64LE(8), length: context.readUInt32LE(16) };
}

export const contextBytes = 40;

function withStore<T>(calls: Certificates, flags: number, use: (store: unknown) => T): T {
  const store = calls.CertOpenStore(registryProvider, 0, 0, localMachine | flags, 'ROOT');
  if (store === null) throw windowsError('CertOpenStore', storeName, calls.lastError());
  let result: T;
  try {
    result = use(store);
  } catch (error) {
    calls.CertCloseStore(store, 0);
    throw error;
  }
  if (calls.CertCloseStore(store, failIfLeftOpen) !== 0) return result;
  throw windowsError('CertCloseStore', storeName, calls.lastError());
}

function listHashes(calls: Certificates, store: unknown): string[] {
  const hashes: string[] = [];
  walk(calls, store, (_, hash) => {
    hashes.push(hash);
    return 'next';
  });
  return hashes;
}

function addCertificate(calls: Certificates, store: unknown, der: Buffer): void {
  const hash = sha256Of(der);
  let isThere = false;
  walk(calls, store, (context, found) => {
    if (found !== hash) return 'next';
    isThere = true;
    calls.CertFreeCertificateContext(context);
    return 'done';
  });
  if (isThere) return;
  if (calls.CertAddEncodedCertificateToStore(store, x509, der, der.length, addAlways, null) !== 0) return;
  throw windowsError('CertAddEncodedCertificateToStore', `certificate ${hash} in ${storeName}`, calls.lastError());
}

function removeCertificate(calls: Certificates, store: unknown, sha256: string): void {
  walk(calls, store, (context, hash) => {
    if (hash !== sha256) return 'next';
    if (calls.CertDeleteCertificateFromStore(context) !== 0) return 'done';
    throw windowsError('CertDeleteCertificateFromStore', `certificate ${hash} in ${storeName}`, calls.lastError());
  });
}

/** Visits the certificates; who ends the walk has to see to it that the context is freed. */
function walk(calls: Certificates, store: unknown, visit: (context: unknown, hash: string) => 'next' | 'done'): void {
  let context = calls.CertEnumCertificatesInStore(store, null);
  while (context !== null) {
    const { address, length } = decodeContext(bytesAt(calls.koffi, context, contextBytes));
    if (visit(context, sha256Of(bytesAt(calls.koffi, address, length))) === 'done') return;
    context = calls.CertEnumCertificatesInStore(store, context);
  }
}

function bytesAt(koffi: Koffi, address: unknown, length: number): Buffer {
  return Buffer.from(koffi.decode(address, 0, 'uint8_t', length) as Uint8Array);
}

function sha256Of(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('hex');
}
