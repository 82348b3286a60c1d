import { attempt } from '#base/errors.ts';
import { Fields, isRecord, jsonIn } from '#base/fields.ts';
import { dir } from '#contract/paths.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { printManifest } from '#contract/services/print.ts';
import type { Files, NodeSource } from './ports.ts';

/** The last version that ran successfully: enough to start or remove its services without the API server. */
export interface KnownGood {
  version: string;
  /** Without values of variables, which may hold passwords and are not applied from here. */
  manifest: ServicesManifest;
  node: NodeSource;
}

export const knownGoodFile = `${dir.k}\\wicd-manifest.json`;

/** Undefined when the record is missing or cannot be parsed. */
export async function readKnownGood(files: Files): Promise<KnownGood | undefined> {
  const text = await files.read(knownGoodFile);
  const parsed = attempt(() => parse(text ?? ''));
  return parsed.ok ? parsed.value : undefined;
}

/** Writes only changes, because it runs in every pass. */
export async function saveKnownGood(known: KnownGood, files: Files): Promise<void> {
  const text = `${JSON.stringify({
    version: known.version,
    data: printManifest({ ...known.manifest, environment: {} }),
    node: stableParts(known.node.object),
  })}\n`;
  if (text !== (await files.read(knownGoodFile))) await files.write(knownGoodFile, text, 'secret');
}

function parse(text: string): KnownGood | undefined {
  if (text === '') return undefined;
  const fields = new Fields(jsonIn(text), knownGoodFile);
  const name = fields.object('node').object('metadata').requiredString('name');
  return {
    version: fields.requiredString('version'),
    manifest: parseManifest(fields.stringMap('data'), knownGoodFile),
    node: { name, object: fields.raw('node') },
  };
}

/** The parts of a Node that service commands use, without those that change often. */
function stableParts(node: unknown): unknown {
  const { apiVersion, kind, metadata, spec, status } = isRecord(node) ? node : {};
  const { name, labels, annotations } = isRecord(metadata) ? metadata : {};
  const addresses = isRecord(status) ? status['addresses'] : undefined;
  return { apiVersion, kind, metadata: { name, labels, annotations }, spec, status: { addresses } };
}
