import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { createClient } from '../src/kube/http-client.ts';
import { startCluster } from '../test/kit/cluster/cluster.ts';
import { createNodes } from './client/nodes.ts';
import type { Figures } from './client/worker.ts';
import type { Report } from './run.ts';

export const description =
  'Kubernetes client against @kubernetes/client-node on a real kube-apiserver: import, GET, list of 5,000 Nodes';

const nodeCount = 5000;
/** Within the project, so that the other client can be imported. */
const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'bench-client');

/** Measures both clients alternately, so that a busy machine affects both. */
export async function run(report: Report): Promise<void> {
  await bundle();
  await using cluster = await startCluster({ controllerManager: false });
  const client = createClient(cluster.adminConfig);
  await createNodes(client, nodeCount);
  await client.close();
  const sample = (who: Who, what: string, count: number) => runWorker(cluster.kubeconfigText, who, what, count);

  compare(
    'import',
    inTurns(7, who => [sample(who, 'import', 0).importMs]),
    'ms',
    report,
  );
  compare(
    'GET of one object',
    inTurns(3, who => sample(who, 'get', 250).times.slice(50)),
    'ms',
    report,
  );
  compare(
    `list of ${nodeCount} Nodes`,
    inTurns(3, who => sample(who, 'list', 5).times.slice(1)),
    'ms',
    report,
  );
  const memory = inTurns(5, who => [sample(who, 'list', 1).peakMegabytes]);
  compare(`peak memory of listing ${nodeCount} Nodes`, memory, 'MB', report);
  rmSync(folder, { recursive: true, force: true });
}

type Who = 'wmco' | 'official';
type Samples = Record<Who, number[]>;

function inTurns(rounds: number, take: (who: Who) => number[]): Samples {
  const samples: Samples = { wmco: [], official: [] };
  for (let round = 0; round < rounds; round += 1) {
    samples.wmco.push(...take('wmco'));
    samples.official.push(...take('official'));
  }
  return samples;
}

function compare(figure: string, samples: Samples, unit: string, report: Report): void {
  const [wmco, official] = [lowerQuartile(samples.wmco), lowerQuartile(samples.official)];
  report(`${figure}, wmco`, wmco, unit);
  report(`${figure}, client-node`, official, unit);
  report(`${figure}, client-node / wmco`, official / wmco, 'x');
}

/** Other load only increases a figure, so the lower ones are more accurate. */
function lowerQuartile(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 4)] ?? Number.NaN;
}

/** Both run as JavaScript: the wmco client is bundled, as in the programs of this project. */
async function bundle(): Promise<void> {
  await build({
    entryPoints: ['worker', 'wmco'].map(name => join(import.meta.dirname, 'client', `${name}.ts`)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@kubernetes/client-node'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  });
}

function runWorker(kubeconfig: string, who: Who, what: string, count: number): Figures {
  const output = execFileSync(process.execPath, [join(folder, 'worker.mjs'), who, what, String(count)], {
    env: { ...process.env, BENCH_KUBECONFIG: kubeconfig },
    encoding: 'utf8',
    timeout: 300_000,
  });
  const figures = JSON.parse(output) as Figures;
  if (what === 'list' && figures.items !== nodeCount) throw new Error(`${who} listed ${figures.items} Nodes`);
  return figures;
}
