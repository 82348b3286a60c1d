import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { slimClient } from '../../src/cluster/slim.ts';
import { type WindowsInstance, windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { reportName } from '../../src/contract/agent-report.ts';
import type { EventText } from '../../src/contract/events.ts';
import { windowsInstanceCrd } from '../../src/contract/windows-instance/crd.ts';
import type { WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import { agentReportsController } from '../../src/controllers/agent-reports/controller.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { noMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import {
  type ConfigMap,
  type CustomResourceDefinition,
  configMaps,
  customResourceDefinitions,
  namespaces,
  nodes,
  type ObjectReference,
} from '../../src/kube/resources.ts';
import { startEmbeddedCluster } from '../../src/sandbox/embedded-cluster.ts';
import { fastClock } from './fast-clock.ts';
import { recordedLog } from './recorded-log.ts';
import { until } from './until.ts';

export const namespace = 'wmco';
export const agent = { keyHash: 'a'.repeat(64), installed: '2026-03-01T12:00:00Z' };

async function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** A cluster with the controller, and what an agent and an administrator do there. */
class ReportBench {
  readonly events: string[] = [];
  readonly logged = recordedLog();
  readonly client: Client;
  /** Why the operator is being uninstalled. */
  uninstall: string | undefined;

  constructor(client: Client) {
    this.client = client;
  }

  /** One process of the operator. */
  start(): { stop: () => Promise<void> } {
    const stop = new AbortController();
    const { log } = this.logged;
    const informers = new Informers({ client: slimClient(this.client), log });
    const record = ({ kind, name }: ObjectReference, { type, reason, message }: EventText) =>
      void this.events.push(`${type} ${kind} ${name} ${reason}: ${message}`);
    const controller = agentReportsController({
      client: this.client,
      installation: { problem: async () => this.uninstall },
      informers,
      recorder: { record },
      namespace,
      version: 'v2',
      clock: fastClock(20),
      log,
      metrics: noMetrics,
    });
    const runs = [informers, controller].map(each => each.run(stop.signal, () => undefined));
    const end = async () => {
      stop.abort(new Error('stop'));
      await Promise.allSettled(runs);
    };
    onTestFinished(end);
    return { stop: end };
  }

  async bind(node: string, status: WindowsInstanceStatus = { agent }): Promise<void> {
    const name = `instance-${node}`.slice(0, 200);
    const made = await this.client.create<WindowsInstance>(windowsInstances, {
      metadata: { name, namespace },
      spec: { address: '10.0.0.5', username: 'Administrator' },
    });
    const body = { status: { node, host: { name: node, addresses: [] }, ...status } };
    const { name: instance = '' } = made.metadata;
    await this.client.patch(windowsInstances, instance, { type: 'merge', body }, { namespace, subresource: 'status' });
  }

  async addNode(name: string, annotations: Record<string, string> = {}): Promise<void> {
    await this.client.create(nodes, { metadata: { name, annotations } });
  }

  report(node: string): Promise<ConfigMap | undefined> {
    return unlessGone(this.client.get(configMaps, reportName(node), { namespace }));
  }

  async write(node: string, body: object): Promise<void> {
    await this.client.patch(configMaps, reportName(node), { type: 'merge', body }, { namespace });
  }

  async marks(node: string): Promise<Record<string, string>> {
    return (await this.client.get(nodes, node)).metadata.annotations ?? {};
  }
}

export async function begin(): Promise<ReportBench> {
  const cluster = await startEmbeddedCluster();
  const client = createClient(loadKubeconfig(cluster.kubeconfigFor()), { clock: systemClock });
  onTestFinished(async () => {
    await client.close();
    await cluster.close();
  });
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(customResourceDefinitions, windowsInstanceCrd() as CustomResourceDefinition);
  await client.list(windowsInstances, { namespace });
  return new ReportBench(client);
}

/** With one host whose agent has its report. */
export async function beginWithReport(node = 'win-1'): Promise<ReportBench> {
  const bench = await begin();
  bench.start();
  await bench.addNode(node);
  await bench.bind(node);
  await until(() => bench.report(node));
  return bench;
}
