import { textFromBase64 } from '#base/bytes.ts';
import { attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type CertificateRequest, parseCertificateRequest } from '#contract/csr-request.ts';
import { identity, signer } from '#contract/names.ts';
import { type CertificateSigningRequest, certificateSigningRequests as requests } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';

type StoredRequest = StoredObject & CertificateSigningRequest;

/** Machines may get their address after the request. */
const retryMs = 1000;

/** The cluster-machine-approver: approves kubelet requests of Machines and renewals. */
export function createMachineApprover(log?: Log): Controller {
  return createController(
    {
      name: 'machine-approver',
      resource: requests,
      reconcile: (key, api) => {
        const request = api.get(requests, key) as StoredRequest | undefined;
        if (request === undefined || (request.status?.conditions ?? []).length > 0) return undefined;
        const verdict = decideRequest(request.spec, api.list(machines));
        if (verdict === 'approve') approve(request, api);
        return verdict === 'retry' ? retryMs : undefined;
      },
    },
    log,
  );
}

/** Ignores requests that are not from kubelets; others may become valid when their Machine has an address. */
export function decideRequest(
  spec: CertificateSigningRequest['spec'],
  all: readonly Machine[],
): 'approve' | 'retry' | 'ignore' {
  const content = read(spec);
  if (content === undefined || !content.commonName.startsWith(identity.nodeUserPrefix)) return 'ignore';
  return isValid(spec, content, all) ? 'approve' : 'retry';
}

function read({ request }: CertificateSigningRequest['spec']): CertificateRequest | undefined {
  const parsed = attempt(() => parseCertificateRequest(textFromBase64(request) ?? ''));
  return parsed.ok ? parsed.value : undefined;
}

function isValid(
  { signerName, username = '' }: CertificateSigningRequest['spec'],
  content: CertificateRequest,
  all: readonly Machine[],
): boolean {
  const { commonName, organizations, dnsNames, ipAddresses, emailAddresses, uris, otherNames } = content;
  if (organizations.length !== 1 || organizations[0] !== identity.nodesGroup) return false;
  if (emailAddresses.length + uris.length + otherNames > 0) return false;
  const nodeName = commonName.slice(identity.nodeUserPrefix.length);
  const own = all.filter(machine => namesOf(machine).includes(nodeName));
  const names = [...dnsNames, ...ipAddresses];
  if (signerName === signer.kubeletClient && names.length === 0) {
    if (username === commonName) return true;
    return username === identity.nodeBootstrapper && own.some(({ status }) => !status?.nodeRef);
  }
  if (signerName !== signer.kubeletServing || username !== commonName) return false;
  return own.some(machine => names.every(name => namesOf(machine).includes(name)));
}

function namesOf({ status }: Machine): string[] {
  return (status?.addresses ?? []).map(({ address }) => address);
}

function approve(request: StoredRequest, api: LocalApi): void {
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'NodeCSRApprove',
    message: 'This CSR was approved by the Node CSR Approver (cluster-machine-approver)',
  };
  const status = { ...request.status, conditions: [condition] };
  api.replace(requests, { ...request, status } as StoredRequest, { subresource: 'approval' });
}
