import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';

/** Shown by the web console as a template for new instances. */
export const example = {
  apiVersion: `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  kind: windowsInstanceKind,
  metadata: { name: 'win1' },
  spec: { address: 'win1.example.com', username: 'Administrator', labels: { zone: 'a' } },
};
