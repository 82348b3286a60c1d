import { identity } from '#contract/names.ts';
import { dir, file, splitPath } from '#contract/paths.ts';

/** Whom a client certificate is for. */
export interface Subject {
  user: string;
  group: string;
}

/** A certificate that the agent keeps valid: for whom, and the files of its key and of itself. */
export interface KeptIdentity extends Subject {
  /** Made by `install`, and used until the next one makes another. */
  keyFile: string;
  /** Certificate and key, replaced as a whole. */
  certificateFile: string;
}

/** Of the agent itself. */
export function agentIdentity(nodeName: string, directory: string = dir.agentCerts): KeptIdentity {
  return {
    user: `${identity.agentUserPrefix}${nodeName}`,
    group: identity.agentsGroup,
    keyFile: within(directory, file.agentKey),
    certificateFile: within(directory, file.agentCertificate),
  };
}

/** Of cloud-node-manager, on Azure. */
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
