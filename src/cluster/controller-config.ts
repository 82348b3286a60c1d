import { textFromBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import type { KubeObject } from '#contract/object.ts';
import type { RegistryBundle } from './facts.ts';

/** What we take from a ControllerConfig of the machine config operator. */
export interface ControllerConfig {
  kubeletCa: string | undefined;
  /** Users' bundles first, then the cluster's. */
  registryBundles: RegistryBundle[];
}

export function readControllerConfig(object: KubeObject): ControllerConfig {
  const spec = object.fields.object('spec');
  const bundles = [...spec.objects('imageRegistryBundleUserData'), ...spec.objects('imageRegistryBundleData')];
  return {
    kubeletCa: decodeMember(spec, 'kubeAPIServerServingCAData'),
    registryBundles: bundles.map(bundle => ({
      file: bundle.requiredString('file'),
      data: decodeMember(bundle, 'data') ?? '',
    })),
  };
}

/** The CA that signs the API server's client certificate for kubelets: that of the first config that has one. */
export function kubeletCa(controllerConfigs: readonly Pick<ControllerConfig, 'kubeletCa'>[]): string {
  const ca = controllerConfigs.find(config => config.kubeletCa)?.kubeletCa;
  if (ca) return ca;
  throw new AppError(
    'KUBELET_CA_MISSING',
    'cannot find kubelet-ca: no ControllerConfig has kubeAPIServerServingCAData',
    {
      remedy:
        'Wait for the machine config operator; `oc get controllerconfigs.machineconfiguration.openshift.io -o yaml` dumps it.',
    },
  );
}

/** The API writes bytes as base64. */
function decodeMember(fields: Fields, name: string): string | undefined {
  const encoded = fields.string(name);
  if (encoded === undefined) return undefined;
  const text = textFromBase64(encoded);
  if (text !== undefined) return text;
  throw new AppError('FIELD_INVALID', `${fields.label}: ${fields.path}.${name} is not base64 of a text`, {
    remedy: `Give ${name} as the API server stores it: PEM certificates, encoded with base64.`,
  });
}
