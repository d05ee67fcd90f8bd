import type { X509Certificate } from "node:crypto";

/**
 * Returns the names of a certificate: the DNS names, URIs and e-mail addresses of its subject alternative name, or its
 * common name if it has no such name.
 */
export function certificateNames({ subjectAltName, subject }: X509Certificate): string[] {
  if (subjectAltName !== undefined) {
    // Node quotes a name with a comma or a quote, which could pass for several names. Nobody needs such a name.
    if (subjectAltName.includes('"')) return [];
    const names = subjectAltName.split(", ").map((each) => /^(?:DNS|URI|email):(.+)$/.exec(each)?.[1]);
    return names.filter((name) => name !== undefined);
  }
  const found = subject.split("\n").map((line) => /^CN=([!-~]+)$/.exec(line)?.[1]);
  const names = found.filter((name) => name !== undefined);
  return names.length === 1 ? names : [];
}
