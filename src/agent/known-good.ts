import { attempt } from '#base/errors.ts';
import { Fields, isRecord, jsonIn } from '#base/fields.ts';
import { dir } from '#contract/paths.ts';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { printManifest } from '#contract/services/print.ts';
import type { Files, NodeSource } from './ports.ts';

/** What the host last ran as wanted: enough to bring it up, or to take it back, when the API server is out of reach. */
export interface KnownGood {
  version: string;
  /** Without the values of variables: they may hold passwords, and are not applied from here. */
  manifest: ServicesManifest;
  node: NodeSource;
}

export const knownGoodFile = `${dir.k}\\wicd-manifest.json`;

/** A record that cannot be read is as good as none. */
export async function readKnownGood(files: Files): Promise<KnownGood | undefined> {
  const text = await files.read(knownGoodFile);
  const parsed = attempt(() => parse(text ?? ''));
  return parsed.ok ? parsed.value : undefined;
}

/** Nothing is written when nothing has changed, for this runs in every pass. */
export async function saveKnownGood(known: KnownGood, files: Files): Promise<void> {
  const text = `${JSON.stringify({
    version: known.version,
    data: printManifest({ ...known.manifest, environment: {} }),
    node: lasting(known.node.object),
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

/** The parts of a Node that commands of services are made of, without those that change all the time. */
function lasting(node: unknown): unknown {
  const { apiVersion, kind, metadata, spec, status } = isRecord(node) ? node : {};
  const { name, labels, annotations } = isRecord(metadata) ? metadata : {};
  const addresses = isRecord(status) ? status['addresses'] : undefined;
  return { apiVersion, kind, metadata: { name, labels, annotations }, spec, status: { addresses } };
}
