import {
  windowsInstanceGroup,
  windowsInstanceKind,
  type WindowsInstanceSpec,
  type WindowsInstanceStatus,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import type { KubeResource } from '#kube/resource.ts';
import { ofNamespace } from '#kube/resources.ts';

/** A WindowsInstance as the API server gives it; its shape was checked there. */
export interface InstanceObject extends KubeResource {
  spec: WindowsInstanceSpec;
  status?: WindowsInstanceStatus;
}

export const windowsInstances = ofNamespace<InstanceObject>(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);
