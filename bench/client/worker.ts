import type * as Wmco from './wmco.ts';

/**
 * One measurement in a separate process, so that memory and import time belong to one client:
 * `worker wmco|official import|get|list COUNT`, the kubeconfig in the variable BENCH_KUBECONFIG. Prints figures as JSON.
 */
export interface Figures {
  importMs: number;
  /** Each repetition. */
  times: number[];
  peakMegabytes: number;
  items: number;
}

interface Subject {
  get(): Promise<unknown>;
  list(): Promise<number>;
  close(): Promise<void>;
}

async function wmco(kubeconfig: string): Promise<Subject> {
  const path = new URL('wmco.mjs', import.meta.url).href;
  const { createClient, loadKubeconfig, nodes } = (await import(path)) as typeof Wmco;
  const client = createClient(loadKubeconfig(kubeconfig));
  return {
    get: () => client.get(nodes, 'node-0'),
    list: async () => (await client.listAll(nodes)).items.length,
    close: () => client.close(),
  };
}

async function official(kubeconfig: string): Promise<Subject> {
  const { CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  return {
    get: () => api.readNode({ name: 'node-0' }),
    list: async () => (await api.listNode()).items.length,
    close: () => Promise.resolve(),
  };
}

async function measure(subject: Subject, what: string, count: number): Promise<Pick<Figures, 'times' | 'items'>> {
  const times: number[] = [];
  let items = 0;
  for (let round = 0; round < count; round += 1) {
    const start = performance.now();
    if (what === 'get') await subject.get();
    else items = await subject.list();
    times.push(performance.now() - start);
  }
  return { times, items };
}

if (import.meta.main) {
  const [, , who, what = '', count = '0'] = process.argv;
  const start = performance.now();
  const subject = await (who === 'wmco' ? wmco : official)(process.env.BENCH_KUBECONFIG ?? '');
  const importMs = performance.now() - start;
  const figures = await measure(subject, what, Number(count));
  const peakMegabytes = process.resourceUsage().maxRSS / 1024;
  process.stdout.write(JSON.stringify({ ...figures, importMs, peakMegabytes } satisfies Figures));
  await subject.close();
  process.exit(0);
}
