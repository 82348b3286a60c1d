import { file } from '#contract/paths.ts';

/** Makes windows_exporter serve TLS with the certificate of the cluster's service CA. */
export function exporterWebConfig(): string {
  return `tls_server_config:\n  cert_file: ${quoted(file.tlsCertificate)}\n  key_file: ${quoted(file.tlsKey)}\n`;
}

/** Single-quoted YAML, in which a backslash is no escape. */
function quoted(text: string): string {
  return `'${text}'`;
}
