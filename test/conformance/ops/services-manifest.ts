import { parseManifest } from '../../../src/contract/services/parse.ts';
import { printManifest, printServices } from '../../../src/contract/services/print.ts';
import type { Service } from '../../../src/contract/services/manifest.ts';
import { exporterService, hybridOverlayService, servicesManifest } from '../../../src/node/desired/services.ts';
import type { Input, Operation, Row } from '../row.ts';

export const ops: Record<string, Operation> = {
  exporterCommand: (input: Input) => ({ command: exporterService({ debug: input.debug ?? false }).command }),
  hybridOverlayService: (input: Input) => {
    const service = hybridOverlayService(facts(input), settings(input));
    const [wire] = JSON.parse(printServices([service])) as Record<string, unknown>[];
    return { ...wire, command: service.command };
  },
  fullManifest: (input: Input) => {
    const manifest = servicesManifest(facts(input), settings(input));
    // Compares the manifest after writing and parsing the ConfigMap, as the agent gets it.
    const data = printManifest(manifest);
    const parsed = parseManifest(data);
    return {
      services: byName(parsed.services.map(compared)),
      files: parsed.files,
      environmentVars: data['environmentVars'] && parsed.environment,
      watchedEnvironmentVars: parsed.watchedEnvironment,
    };
  },
};

/** Rows compare services and their order, not how variables are resolved. */
export function expected(row: Row): Record<string, unknown> {
  const services = row.expected['services'] as Input[] | undefined;
  if (row.op !== 'fullManifest' || services === undefined) return row.expected;
  return { ...row.expected, services: byName(services.map(item => compared({ ...item, command: item.path }))) };
}

function compared(
  service: Pick<Service, 'name' | 'command' | 'bootstrap' | 'priority'> & { dependencies?: string[] },
): object {
  const { name, command, bootstrap, priority, dependencies = [] } = service;
  return { name, command, bootstrap, priority, dependencies };
}

/** Order inside one priority does not matter. */
function byName(services: object[]): object[] {
  return services.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

function facts(input: Input) {
  return {
    platform: input.platform,
    apiServerUrl: input.apiServerInternalURL ?? '',
    network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: input.vxlanPort ?? '' },
    kubeletArguments: input.kubeletArguments ?? {},
    proxy: input.proxyVars ?? {},
  };
}

function settings({ debug = false, logRotation = {} }: Input) {
  return { debug, logRotation: { fileSize: '', fileAge: '', flushInterval: '', ...logRotation } };
}
