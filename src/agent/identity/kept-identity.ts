import { identity } from '#contract/names.ts';
import { dir, file, splitPath } from '#contract/paths.ts';

/** Subject of a client certificate. */
export interface Subject {
  user: string;
  group: string;
}

/** A certificate that the agent maintains. */
export interface KeptIdentity extends Subject {
  /** Created by `install`, and used until it is replaced there. */
  keyFile: string;
  /** Certificate and key, replaced atomically. */
  certificateFile: string;
}

export function agentIdentity(nodeName: string, directory: string = dir.agentCerts): KeptIdentity {
  return {
    user: `${identity.agentUserPrefix}${nodeName}`,
    group: identity.agentsGroup,
    keyFile: within(directory, file.agentKey),
    certificateFile: within(directory, file.agentCertificate),
  };
}

/** For cloud-node-manager on Azure. */
export function cloudNodeIdentity(nodeName: string, directory: string = dir.agentCerts): KeptIdentity {
  return {
    user: `${identity.cloudNodeUserPrefix}${nodeName}`,
    group: identity.cloudNodesGroup,
    keyFile: within(directory, file.cloudNodeKey),
    certificateFile: within(directory, file.cloudNodeCertificate),
  };
}

function within(directory: string, path: string): string {
  return `${directory}\\${splitPath(path).name}`;
}
