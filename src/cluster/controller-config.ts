import { textFromBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import type { KubeObject } from '#contract/object.ts';
import type { RegistryBundle } from './facts.ts';

/** The fields used from a ControllerConfig of the machine config operator. */
export interface ControllerConfig {
  kubeletCa: string | undefined;
  /** Bundles of users first, then those of the cluster. */
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

/** The CA of the client certificate that the API server shows to kubelets, from the first config that has one. */
export function kubeletCa(controllerConfigs: readonly Pick<ControllerConfig, 'kubeletCa'>[]): string {
  const ca = controllerConfigs.find(config => config.kubeletCa)?.kubeletCa;
  if (ca) return ca;
  throw new AppError(
    'KUBELET_CA_MISSING',
    'cannot find kubelet-ca: no ControllerConfig has kubeAPIServerServingCAData',
    {
      remedy:
        'Wait for the machine config operator; check with `oc get controllerconfigs.machineconfiguration.openshift.io -o yaml`.',
    },
  );
}

function decodeMember(fields: Fields, name: string): string | undefined {
  const encoded = fields.string(name);
  if (encoded === undefined) return undefined;
  const text = textFromBase64(encoded);
  if (text !== undefined) return text;
  throw new AppError('FIELD_INVALID', `${fields.label}: ${fields.path}.${name} is not base64-encoded text`, {
    remedy: `Set ${name} to PEM certificates, base64-encoded as the API server stores them.`,
  });
}
