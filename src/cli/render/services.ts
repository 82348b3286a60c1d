import { withoutLogin } from '#base/secret.ts';
import type { ClusterFacts } from '#cluster/facts.ts';
import { openshiftFacts } from '#cluster/openshift.ts';
import type { Service } from '#contract/services/manifest.ts';
import { servicesConfigMap } from '#contract/services/print.ts';
import { servicesManifest } from '#node/desired/services.ts';
import type { Command } from '../command.ts';
import { table } from '../output.ts';
import { yamlText } from '../safe-text.ts';
import { settingsFrom } from '../settings.ts';

export const renderServices: Command = {
  name: 'services',
  summary: 'print the services ConfigMap: services of a Windows node, their order and commands',
  example: 'wmco render services -f examples/cluster.yaml -o yaml',
  reads: 'Infrastructure, Networks, Proxy, MachineConfigs and ControllerConfig',
  options: ['operatorVersion', 'namespace', 'debug', 'env', 'showSecrets'],
  run({ objects }, options) {
    const settings = settingsFrom(options);
    const { facts, findings } = openshiftFacts(objects, settings);
    if (facts === undefined) return { output: { text: '', data: null, files: {} }, findings };
    const manifest = servicesManifest(options['showSecrets'] === true ? facts : withoutLogins(facts), settings);
    const configMap = servicesConfigMap(manifest, settings.version, settings.namespace);
    const text = [
      `ConfigMap ${configMap.metadata.namespace}/${configMap.metadata.name}`,
      '',
      ...manifest.services.map(serviceText),
      `watched variables  ${manifest.watchedEnvironment.join(', ')}`,
      `variables set      ${Object.keys(manifest.environment).join(', ') || 'none'}`,
    ].join('\n');
    return {
      output: { text, data: configMap, files: { [`${configMap.metadata.name}.yaml`]: yamlText(configMap) } },
      findings,
    };
  },
};

function withoutLogins(facts: ClusterFacts): ClusterFacts {
  const proxy = Object.entries(facts.proxy).map(([name, value]) => [name, withoutLogin(value)]);
  return { ...facts, proxy: Object.fromEntries(proxy) };
}

function serviceText(service: Service): string {
  const resolved = [
    ...service.nodeVariables.map(({ name, jsonPath }) => `${name} = ${jsonPath} of the Node`),
    ...service.hostVariables.map(({ name, source }) => `${name} = ${source} of the host`),
  ];
  const rows = [
    ['  starts', `priority ${service.priority}${service.bootstrap ? ', with bootstrap' : ''}`],
    ...(service.dependencies.length > 0 ? [['  after', service.dependencies.join(', ')]] : []),
    ['  command', service.command],
    ...resolved.map(text => ['  variable', text]),
    ...service.prepare.map(({ kind }) => ['  prepared by', kind]),
  ];
  return `${service.name}\n${table(rows)}\n`;
}
