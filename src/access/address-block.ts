import { isIPv6, SocketAddress } from "node:net";

/**
 * What of an address is limited together: an IPv4 address by itself, of IPv6 the /64 that one subscriber has and in
 * which any address can be had for nothing.
 */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  return `${expand(address).slice(0, 4).join(":")}::/64`;
}

/** The eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = "", tail] = canonical(address).split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const [front, back] = [groups(head), groups(tail ?? "")];
  return [...front, ...Array<string>(8 - front.length - back.length).fill("0"), ...back];
}

/** Lower case, shortened as RFC 5952 has it. */
function canonical(address: string): string {
  return new SocketAddress({ address, family: "ipv6" }).address;
}
