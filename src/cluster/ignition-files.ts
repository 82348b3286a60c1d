import { fromUtf8 } from '#base/bytes.ts';
import { shown } from '#base/errors.ts';
import { gunzip } from '#base/gzip.ts';
import { workerFile } from '#contract/worker-files.ts';
import { decodeDataUrl } from './data-url.ts';
import type { KubeletArguments } from './facts.ts';
import { type IgnitionFile, malformedIgnition, type WorkerConfig } from './ignition.ts';

const maxUnpackedBytes = 4 * 1024 * 1024;

/** Decodes the files of the workers that Windows nodes get as well, by their path on Linux. Other files are not decoded. */
export function readWorkerFiles(config: WorkerConfig, kubelet: KubeletArguments): Record<string, string> {
  const { cloudConfig, acrCredentialProvider, ...others } = workerFile;
  const wanted: string[] = [acrCredentialProvider, ...Object.values(others)];
  // The provider of Azure reads it, too.
  const isAsked =
    Object.hasOwn(kubelet, 'cloud-config') || config.files.some(({ path }) => path === acrCredentialProvider);
  if (isAsked) wanted.push(cloudConfig);
  const found = config.files.filter(file => wanted.includes(file.path));
  return Object.fromEntries(found.map(file => [file.path, decode(file, config.label)]));
}

function decode(file: IgnitionFile, label: string): string {
  const wrong = (what: string) => malformedIgnition(label, `file ${file.path} ${what}`);
  if (file.source === undefined) throw wrong('has no source');
  const stored = decodeDataUrl(file.source);
  if (stored === undefined) throw wrong('has a source that is not a valid data: URL');
  const content = unpack(stored, file.compression);
  if (content === 'unknown') throw wrong(`has compression ${shown(file.compression)}; only gzip is supported`);
  if (content === undefined) throw wrong(`is damaged gzip data or larger than ${maxUnpackedBytes} bytes`);
  const text = fromUtf8(content);
  if (text === undefined) throw wrong('is not UTF-8 text');
  return text;
}

function unpack(stored: Uint8Array, compression: string): Uint8Array | undefined | 'unknown' {
  if (compression === '') return stored;
  return compression === 'gzip' ? gunzip(stored, maxUnpackedBytes) : 'unknown';
}
