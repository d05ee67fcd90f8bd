import ipaddr from "ipaddr.js";

/**
 * True if an IP address is one of the public internet. False for every special range, such as loopback, private,
 * link-local, shared (RFC 6598), multicast and documentation addresses, for IPv6 addresses that contain an IPv4 address
 * (mapped, NAT64, 6to4, Teredo), and for a text that is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  // IANA has allocated only 2000::/3 of IPv6, so all the rest may lead to a place that this library does not know.
  return address.kind() === "ipv4" || address.match(ipaddr.parseCIDR("2000::/3"));
}
