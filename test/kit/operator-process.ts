import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { type PayloadRelease, sandboxPayload } from '../../src/bin/sandbox-factory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { runOperator } from '../../src/operator/operator.ts';
import type { RunSettings } from '../../src/operator/settings.ts';
import { publishedNetwork } from '../../src/sandbox/machines/published-network.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { operatorSettings } from './sandbox-operator.ts';
import { type KillOrder, Steps } from './step-lines.ts';

/** The command line of a process, as JSON. */
export interface ProcessOrder {
  /** File. */
  kubeconfig: string;
  namespace: string;
  release: PayloadRelease;
  payloadBytes: number;
  platform: string;
  settings: Partial<RunSettings>;
}

/** An operator in its own process. It finds hosts by what the sandbox has published, and kills itself on order. */
const order = JSON.parse(process.argv[2] ?? '') as ProcessOrder;
const { kubeconfig, namespace, release, payloadBytes, platform, settings } = order;
flushCompileCache();
const client = createClient(loadKubeconfig(readFileSync(kubeconfig, 'utf8')));
const { findRoute, names } = publishedNetwork(client);
const steps = new Steps(delayMs => {
  const die = () => process.kill(process.pid, 'SIGKILL');
  if (delayMs > 0) setTimeout(die, delayMs);
  else die();
});
// The parent is gone.
process.on('disconnect', () => process.exit());
process.on('message', moment => steps.killAt(moment as KillOrder));
await runOperator(
  {
    client,
    leaseClient: client,
    settings: { ...operatorSettings(namespace, release), ...settings },
    connect: routedConnect(findRoute, connect, systemClock),
    dialTcp: async () => undefined,
    resolver: names,
    payload: sandboxPayload(release, payloadBytes, platform),
    clock: systemClock,
    log: createLog(line => {
      process.stderr.write(line);
      steps.note(line);
    }, systemClock),
    metrics: new MemoryMetrics(),
    random: Math.random,
  },
  new AbortController().signal,
);
