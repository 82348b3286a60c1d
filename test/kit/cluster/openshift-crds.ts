import { windowsInstanceCrd } from '../../../src/contract/windows-instance/crd.ts';
import { isAlreadyExists } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from '../../../src/kube/resources.ts';
import * as openshift from '../../../src/kube/resources-openshift.ts';

type Schema = Record<string, unknown>;

const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };
/** For what others own and we pass over. */
const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
/** Fields we use are typed; the many others are kept as they are. */
const open = (properties: Record<string, Schema>): Schema =>
  object(properties, { 'x-kubernetes-preserve-unknown-fields': true });

const networks = listOf(object({ cidr: text, hostPrefix: integer }));
const addresses = listOf(object({ type: text, address: text }));
const mirrors = listOf(
  object(
    {
      source: text,
      mirrors: listOf(text),
      mirrorSourcePolicy: { type: 'string', enum: ['NeverContactSource', 'AllowContactingSource'] },
    },
    { required: ['source'] },
  ),
);
const conditions = listOf(
  object(
    {
      type: text,
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      reason: text,
      message: text,
      lastTransitionTime: { type: 'string', format: 'date-time' },
      observedGeneration: integer,
    },
    { required: ['type', 'status'] },
  ),
);
const bundle = listOf(object({ file: text, data: { type: 'string', format: 'byte' } }));

/** The operator itself does not use them. */
const prometheusRules: Resource = {
  group: 'monitoring.coreos.com',
  version: 'v1',
  plural: 'prometheusrules',
  kind: 'PrometheusRule',
  namespaced: true,
};

interface Definition {
  resource: Resource;
  spec?: Schema;
  status?: Schema;
  /** MachineSets can be scaled. */
  scale?: boolean;
}

const definitions: readonly Definition[] = [
  {
    resource: openshift.infrastructures,
    spec: anything,
    status: open({ platform: text, platformStatus: open({ type: text }), apiServerInternalURI: text }),
  },
  {
    resource: openshift.networkConfigs,
    spec: open({ networkType: text, serviceNetwork: listOf(text), clusterNetwork: networks }),
    status: anything,
  },
  {
    resource: openshift.networkOperators,
    spec: open({
      defaultNetwork: open({
        type: text,
        ovnKubernetesConfig: open({
          hybridOverlayConfig: object({ hybridClusterNetwork: networks, hybridOverlayVXLANPort: integer }),
        }),
      }),
    }),
    status: anything,
  },
  { resource: openshift.apiServerConfigs, spec: open({ tlsSecurityProfile: anything, tlsAdherence: text }) },
  {
    resource: openshift.proxyConfigs,
    spec: open({ trustedCA: anything }),
    status: object({ httpProxy: text, httpsProxy: text, noProxy: text }),
  },
  { resource: openshift.imageDigestMirrorSets, spec: object({ imageDigestMirrors: mirrors }), status: anything },
  { resource: openshift.imageTagMirrorSets, spec: object({ imageTagMirrors: mirrors }), status: anything },
  {
    resource: openshift.imageConfigs,
    spec: open({
      registrySources: open({
        insecureRegistries: listOf(text),
        blockedRegistries: listOf(text),
        allowedRegistries: listOf(text),
      }),
    }),
    status: anything,
  },
  { resource: openshift.imageContentSourcePolicies, spec: anything },
  {
    resource: openshift.machines,
    spec: open({ providerID: text }),
    status: open({ phase: text, addresses, nodeRef: anything }),
  },
  {
    resource: openshift.machineSets,
    spec: open({ replicas: integer, selector: anything, template: anything }),
    status: open({ replicas: integer }),
    scale: true,
  },
  { resource: openshift.machineConfigs, spec: open({ config: anything }) },
  {
    resource: openshift.controllerConfigs,
    spec: open({
      kubeAPIServerServingCAData: { type: 'string', format: 'byte' },
      imageRegistryBundleData: bundle,
      imageRegistryBundleUserData: bundle,
    }),
    status: anything,
  },
  { resource: openshift.operatorConditions, spec: open({ conditions }), status: object({ conditions }) },
  { resource: openshift.serviceMonitors, spec: open({ endpoints: listOf(anything), selector: anything }) },
  { resource: prometheusRules, spec: open({ groups: listOf(anything) }) },
];

/** Definitions of the kinds of OpenShift and of our own WindowsInstance. */
export function allDefinitions(): CustomResourceDefinition[] {
  return [...definitions.map(definitionOf), windowsInstanceCrd() as CustomResourceDefinition];
}

/** Creates what is missing and waits until all of it is served; all definitions, or those of the names given. */
export async function installDefinitions(client: Client, names?: readonly string[]): Promise<void> {
  const wanted = allDefinitions().filter(({ metadata }) => names?.includes(metadata.name ?? '') ?? true);
  for (const definition of wanted) {
    try {
      await client.create(customResourceDefinitions, definition);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  await Promise.all(wanted.map(definition => untilServed(client, definition)));
}

async function untilServed(client: Client, { spec, metadata }: CustomResourceDefinition): Promise<void> {
  const path = `/apis/${spec.group}/${spec.versions[0]?.name}/${String(spec.names.plural)}?limit=1`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.raw('GET', path);
      return;
    } catch (error) {
      if (attempt === 200) throw new Error(`${metadata.name} is not served`, { cause: error });
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}

function definitionOf({ resource, spec, status, scale }: Definition): CustomResourceDefinition {
  const { group, version, kind, plural, namespaced } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ ...(spec && { spec }), ...(status && { status }) }) },
          subresources: {
            ...(status && { status: {} }),
            ...(scale && { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }),
          },
        },
      ],
    },
  };
}
