import { AppError, attempt } from '#base/errors.ts';
import type { ClusterFacts, OperatorSettings } from '#cluster/facts.ts';
import { type FactsSource, rootCa } from '#cluster/facts-source.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { agentName, bootstrapperName, configMapName, namespaceName, secretKey, secretName } from '#contract/names.ts';
import { objectLabel, readObject } from '#contract/object.ts';
import { secretData, secretMember } from '#contract/secret-data.ts';
import { servicesHash } from '#contract/services/hash.ts';
import { printManifest } from '#contract/services/print.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import type { InstanceToken } from '#contract/windows-instance/resource.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { sealUsername } from '#host/keys/username-seal.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type SecretObject, secrets } from '#kube/resources.ts';
import { imageConfigs, imageDigestMirrorSets, imageTagMirrorSets } from '#kube/resources-openshift.ts';
import { nodeFiles, type NodeFilesInput } from '../desired/files.ts';
import { daemonLogMegabytes } from '../desired/log-rotation.ts';
import { servicesManifest } from '../desired/services.ts';
import type { KubeletProfile } from '../desired/kubelet-settings.ts';
import { registryFiles } from '../desired/registries/registries.ts';
import type { HostFacts, HostInputs, HostInputSource } from '../lifecycle/deps.ts';
import { DesiredSettings, settingsFrom, settingsInput, type SettingsSources } from './desired-settings.ts';
import { LastKubeletProfiles } from './kubelet-profiles.ts';
import { LastLogins } from './last-logins.ts';
import { InstanceKeys } from './instance-keys.ts';
import { KeyRing } from './key-ring.ts';
import { KeyStore, keyStorePermissions, storedKeys } from './key-store.ts';
import { clusterSalt, saltPermission, type SettingsSalt } from './settings-salt.ts';
import { missingInput, PendingInputError } from './missing-input.ts';
import { loadInstanceKey } from './private-key.ts';
import { type Account, type IssuedToken, issueToken } from './tokens.ts';

/** Everything but logins that the registry files depend on. */
export const mirrorResources: readonly Resource[] = [imageDigestMirrorSets, imageTagMirrorSets, imageConfigs];

export const permissions: readonly Permission[] = [
  saltPermission,
  ...keyStorePermissions,
  // Of an instance: it may name any Secret of the namespace.
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: ['get'] },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: reading },
  {
    in: { namespace: namespaceName.config },
    group: '',
    resources: ['secrets'],
    verbs: reading,
    names: [secretName.pullSecret],
  },
  {
    in: 'cluster',
    group: imageDigestMirrorSets.group,
    resources: mirrorResources.map(({ plural }) => plural),
    verbs: reading,
  },
];

/** Settings of the operator that hosts depend on. */
export interface HostInputSettings extends Pick<OperatorSettings, 'debug' | 'logRotation'> {
  /** Lifetime of tokens that are written on hosts. */
  tokenSeconds: number;
  /** Whether hosts get tokens that never expire if the cluster issues no others. */
  allowLastingTokens: boolean;
  /** Go duration of the agents' client certificates. */
  certificateLifetime: string;
  /** Whether former private keys are stored in a Secret, so that they outlive the process. */
  keepsPrivateKeys: boolean;
  /** Whether the operator adds its new public key to hosts that accept a former one. */
  authorizesKeys: boolean;
}

export interface HostInputParts extends ControllerParts {
  facts: FactsSource;
  settings: HostInputSettings;
  kind: 'openshift' | 'kubernetes';
  serves: (resource: Resource) => boolean;
}

/** Collects what hosts need from the cluster at the time of the call. */
export function hostInputSource(parts: HostInputParts): HostInputSource {
  const { informers, namespace } = parts;
  const named = (where: string, name: string) =>
    informers.get(secrets, { namespace: where, fieldSelector: `metadata.name=${name}` });
  const isOpenshift = parts.kind === 'openshift';
  const keyStore = new KeyStore({ ...parts, informer: storedKeys(parts) });
  const sources: Sources = {
    keyRing: new KeyRing(named(namespace, secretName.privateKey), keyStore, namespace),
    keyStore,
    instanceKeys: new InstanceKeys(parts.client, parts.clock),
    ...clusterSalt(parts),
    tls: named(namespace, secretName.tls),
    pullSecret: isOpenshift ? named(namespaceName.config, secretName.pullSecret) : undefined,
    mirrors: mirrorResources.filter(parts.serves).map(resource => informers.get(resource)),
    configMaps: informers.get(configMaps, { namespace }),
    kubelets: new LastKubeletProfiles(),
    lastLogins: new LastLogins(),
    loggedWarnings: new Set(),
  };
  const desired = followSettings(sources, parts);
  return {
    loadKeys: (instance, signal) => loadKeys(instance, sources, parts, signal),
    keyProblem: ({ spec }) => (spec.keySecret === undefined ? sources.keyRing.problem : undefined),
    currentKeyHash: instance => currentKeyHash(instance, sources),
    lookAtKey: (instance, signal) =>
      instance.spec.keySecret === undefined ? Promise.resolve() : sources.instanceKeys.look(instance, signal),
    keepKey: (key, signal) => keepKey(key, sources, parts, signal),
    authorizesKeys: parts.settings.authorizesKeys,
    readFacts: () => hostFacts(factsOf(parts), parts),
    prepareInputs: (instance, signal) => prepareInputs(instance, sources, parts, signal),
    desiredSettings: ({ spec }) => desired.get(spec.labels),
    onSettingsChange: listener => desired.onChange(listener),
    settingsProblem: () => desired.problem ?? sources.lastLogins.problem,
  };
}

/** Looks again whenever an object changes that files or services are made of. */
function followSettings(sources: Sources, parts: HostInputParts): DesiredSettings {
  const { clock, log } = parts;
  const desired = new DesiredSettings({
    read: () => settingsSources(sources, parts),
    note: () => sources.lastLogins.problem,
    clock,
    log,
  });
  const look = () => desired.invalidate();
  const { salted, pullSecret, mirrors } = sources;
  const informers = [...salted, ...(pullSecret === undefined ? [] : [pullSecret]), ...mirrors];
  for (const each of informers) each.addHandler({ added: look, updated: look, deleted: look });
  const lookAt = ({ metadata }: ConfigMap) => {
    if (metadata.name === configMapName.kubeletConfig) look();
  };
  sources.configMaps.addHandler({ added: lookAt, updated: (_old, now) => lookAt(now), deleted: lookAt });
  parts.facts.onChange(look);
  return desired;
}

/** Throws an AppError while something is missing. */
function settingsSources(sources: Sources, parts: HostInputParts): SettingsSources {
  const facts = factsOf(parts);
  const manifest = servicesManifest(facts, parts.settings);
  return {
    facts,
    tls: tlsPair(sources, parts.namespace),
    ...registryInput(sources, parts),
    version: parts.version,
    servicesHash: servicesHash(printManifest(manifest), sources.salt.forServices(manifest)),
    kubeletProfiles: kubeletProfiles(sources, parts),
    salt: sources.salt.read(),
  };
}

function kubeletProfiles(
  { configMaps: { store }, kubelets }: Sources,
  { namespace }: HostInputParts,
): KubeletProfile[] {
  const key = { namespace, name: configMapName.kubeletConfig };
  return kubelets.read(store.get(key)?.data, objectLabel('ConfigMap', key));
}

interface Sources {
  keyRing: KeyRing;
  keyStore: KeyStore;
  instanceKeys: InstanceKeys;
  salt: SettingsSalt;
  /** SSH keys and the TLS pair. */
  salted: readonly Informer<SecretObject>[];
  tls: Informer<SecretObject>;
  pullSecret: Informer<SecretObject> | undefined;
  mirrors: readonly Informer<KubeResource>[];
  configMaps: Informer<ConfigMap>;
  kubelets: LastKubeletProfiles;
  lastLogins: LastLogins;
  /** Warnings about registries that still hold. */
  loggedWarnings: ReadonlySet<string>;
}

async function loadKeys(
  instance: WindowsInstance,
  { keyRing }: Pick<Sources, 'keyRing'>,
  { client }: HostInputParts,
  signal: AbortSignal,
): Promise<readonly PrivateKey[]> {
  const own = await loadInstanceKey(instance, client, signal);
  const { hash, former = [] } = instance.status?.key ?? {};
  return keyRing.keysFor(hash === undefined ? former : [hash, ...former], own);
}

/** Undefined while the key is missing or cannot be used, which is reported elsewhere. */
function currentKeyHash(
  instance: WindowsInstance,
  { keyRing, instanceKeys }: Pick<Sources, 'keyRing' | 'instanceKeys'>,
): string | undefined {
  if (instance.spec.keySecret !== undefined) return instanceKeys.hash(instance);
  const current = attempt(() => keyRing.current());
  return current.ok ? publicKeyHash(current.value.publicKey) : undefined;
}

/** The host works also if this fails; then the key lives as long as this process. */
async function keepKey(
  key: PrivateKey,
  { keyStore, salt }: Pick<Sources, 'keyStore' | 'salt'>,
  { settings, log }: HostInputParts,
  signal: AbortSignal,
): Promise<void> {
  const hash = publicKeyHash(key.publicKey);
  if (!settings.keepsPrivateKeys || keyStore.isStored(hash)) return;
  try {
    await keyStore.keep(key, salt.read(), signal);
  } catch (error) {
    signal.throwIfAborted();
    log.warn('Storing the private key failed; after a rotation and a restart, hosts with it are out of reach', {
      Secret: secretName.privateKeys,
      error,
    });
  }
}

async function prepareInputs(
  instance: WindowsInstance,
  sources: Sources,
  parts: HostInputParts,
  signal: AbortSignal,
): Promise<HostInputs> {
  const { namespace, settings } = parts;
  checkServices(sources, parts);
  const content = settingsSources(sources, parts);
  const { facts } = content;
  const { labels } = instance.spec;
  const [key] = await loadKeys(instance, sources, parts, signal);
  if (key === undefined) throw new Error('there is always a key');
  const tokens = await bootstrapTokens(sources, parts, signal);
  const { fileSize } = settings.logRotation;
  return {
    ...hostFacts(facts, parts),
    namespace,
    vxlanPort: facts.network.vxlanPort,
    certificateLifetime: settings.certificateLifetime,
    tokens: [...tokenRecord(tokens.bootstrapToken, 'kubelet'), ...tokenRecord(tokens.agentToken, 'agent')],
    files: nodeFiles({ ...settingsInput(content, labels), ...tokens }),
    settings: settingsFrom(content, labels),
    publicKeyHash: publicKeyHash(key.publicKey),
    sealUsername: username => sealUsername(username, key.pem.reveal()),
    ...(fileSize !== '' && { agentLogMegabytes: daemonLogMegabytes(fileSize) }),
  };
}

function hostFacts(
  { platform, apiServerUrl, reserved }: ClusterFacts,
  { version }: Pick<HostInputParts, 'version'>,
): HostFacts {
  return { version, platform, apiServerUrl, reserved };
}

function factsOf({ facts }: HostInputParts): ClusterFacts {
  const reading = facts.read();
  if (reading.facts !== undefined) return reading.facts;
  const [first, ...more] = reading.findings;
  if (first === undefined || more.length === 0) throw first ?? missingInput('the description of the cluster');
  throw new AppError(first.code, `${first.message} (and ${more.length} more problems with the cluster)`, {
    remedy: first.remedy,
    cause: first,
  });
}

/** The agent reads from it which services to start. */
function checkServices({ configMaps: { store } }: Sources, { namespace, version }: HostInputParts): void {
  const key = { namespace, name: servicesConfigMapName(version) };
  if (store.get(key) === undefined) throw new PendingInputError(objectLabel('ConfigMap', key));
}

function tlsPair({ tls }: Sources, namespace: string): NodeFilesInput['tls'] {
  const [secret] = tls.store.list();
  const label = objectLabel('Secret', { namespace, name: secretName.tls });
  // The operator or the service CA creates it soon.
  if (secret === undefined) throw new PendingInputError(label);
  const data = secretData(readObject(secret));
  const member = (name: string) => secretMember(data, name, label);
  return { certificate: member(secretKey.tlsCertificate).reveal(), key: member(secretKey.tlsKey) };
}

function registryInput(sources: Sources, { log }: HostInputParts): Pick<SettingsSources, 'registries' | 'logins'> {
  const { mirrors, pullSecret, lastLogins, loggedWarnings } = sources;
  const objects = mirrors.flatMap(informer => informer.store.list().map(object => readObject(object)));
  const logins = pullSecret && lastLogins.read(pullSecret.store.list()[0]);
  const { files, warnings: ofRegistries } = registryFiles(objects, logins);
  const warnings = [...ofRegistries, ...(lastLogins.problem === undefined ? [] : [lastLogins.problem])];
  // They are computed again after every change of the cluster, and for every host that joins.
  for (const error of warnings)
    if (!loggedWarnings.has(error.message)) log.warn('A registry setting is not used', { error });
  sources.loggedWarnings = new Set(warnings.map(({ message }) => message));
  return { registries: files, ...(logins !== undefined && { logins }) };
}

async function bootstrapTokens(
  { configMaps: { store } }: Sources,
  parts: HostInputParts,
  signal: AbortSignal,
): Promise<Record<'bootstrapToken' | 'agentToken', IssuedToken>> {
  const { namespace, kind, settings } = parts;
  const clusterCa = () => store.get({ namespace, name: rootCa.name })?.data?.[rootCa.key];
  const agent: Account = { namespace, name: agentName, secret: secretName.agentToken, isOwned: true };
  const isOpenshift = kind === 'openshift';
  const kubelet: Account = {
    namespace: isOpenshift ? namespaceName.machineConfig : namespace,
    name: bootstrapperName,
    secret: secretName.bootstrapToken,
    isOwned: !isOpenshift,
  };
  const options = {
    ...parts,
    clusterCa,
    seconds: settings.tokenSeconds,
    allowLasting: settings.allowLastingTokens,
  };
  const [bootstrapToken, agentToken] = await Promise.all(
    [kubelet, agent].map(account => issueToken(account, options, signal)),
  );
  if (bootstrapToken === undefined || agentToken === undefined) throw missingInput('a token');
  return { bootstrapToken, agentToken };
}

/** The record of a token; none for a token without an id, which cannot be recognized later. */
function tokenRecord({ id, expires }: IssuedToken, use: InstanceToken['use']): InstanceToken[] {
  return id === undefined || expires === undefined ? [] : [{ id, use, expires }];
}
