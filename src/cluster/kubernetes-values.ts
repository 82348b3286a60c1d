import { AppError, attempt, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { scanPem } from '#base/pem.ts';
import { isPlainHttps } from './infrastructure.ts';
import { clusterDns } from './network.ts';

/** Each returns the valid text or throws what is wrong with it. */

export function readUrl(text: string): string {
  if (isPlainHttps(text)) return text;
  throw new AppError('API_SERVER_URL_MISSING', `${shown(text)} is not an https URL`, {
    remedy: 'Set it to the URL at which hosts reach the API server, such as https://api.example.com:6443.',
  });
}

export function readCidr(text: string): string {
  const result = attempt(() => clusterDns(text));
  if (result.ok) return text;
  const { code, message } = result.error;
  throw new AppError(code, message, {
    remedy: 'Set it to an IPv4 network of at least 16 addresses, such as 10.96.0.0/12.',
  });
}

export function readAddress(text: string): string {
  if (isIpv4(text)) return text;
  throw invalid(
    `${shown(text)} is not an IPv4 address`,
    'Set it to the address of the DNS service, such as 10.96.0.10.',
  );
}

export function readPort(text: string): string {
  if (text === '' || (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536)) return text;
  throw invalid(`${shown(text)} is not a port`, 'Set it to the VXLAN port of the hybrid overlay, or remove the key.');
}

export function readCertificates(text: string): string {
  const { blocks, broken } = scanPem(text);
  if (blocks.length > 0 && broken.length === 0) return text;
  throw new AppError(
    'KUBELET_CA_MISSING',
    blocks.length === 0 ? 'no certificate found' : 'a certificate is malformed',
    {
      remedy: 'Set it to CA certificates in PEM format, or remove the key to use the CA of the cluster.',
    },
  );
}

function invalid(message: string, remedy: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy });
}
