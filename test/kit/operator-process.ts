import { readFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { publishedNetwork } from '../../src/sandbox/machines/published-network.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { operatorSettings, sandboxPayload } from './sandbox-operator.ts';

/** An operator in a process of its own: kubeconfig file, namespace, bytes of payload. It finds the hosts by what their cluster says. */
const [kubeconfig = '', namespace = '', payloadBytes = '1000000'] = process.argv.slice(2);
const client = createClient(loadKubeconfig(readFileSync(kubeconfig, 'utf8')));
const { findRoute, names } = publishedNetwork(client);
await runOperator(
  {
    client,
    settings: operatorSettings(namespace),
    connect: routedConnect(findRoute, connect, systemClock),
    resolver: names,
    payload: sandboxPayload(Number(payloadBytes)),
    clock: systemClock,
    log: createLog(line => void process.stderr.write(line), systemClock),
    metrics: new MemoryMetrics(),
    random: Math.random,
  },
  new AbortController().signal,
);
