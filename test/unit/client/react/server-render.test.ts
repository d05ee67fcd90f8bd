import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import {
  SigningProvider,
  useDWallet,
  useOnboard,
  useSign,
  useSigningClient,
} from "../../../../src/client/react/index.ts";
import { heldClient } from "./held-client.ts";

it("hooks render on a server, which has no page, and call nothing there", () => {
  const { client, calls } = heldClient();
  expect(globalThis.window).toBeUndefined();
  const html = renderToString(createElement(SigningProvider, { client }, createElement(Wallet)));
  expect(html).toBe("pending,idle,idle");
  expect(calls).toEqual([]);
});

it("a hook gives the client of its provider, and without a provider names what is missing", () => {
  const { client } = heldClient();
  const found: unknown[] = [];
  const element = createElement(Probe, { found });
  renderToString(createElement(SigningProvider, { client }, element));
  expect(found).toEqual([client]);
  expect(() => renderToString(element)).toThrow("put the component below a SigningProvider");
});

function Probe({ found }: { readonly found: unknown[] }): null {
  found.push(useSigningClient());
  return null;
}

function Wallet(): string {
  const states = [useDWallet({ dwalletId: `0x${"ab".repeat(32)}` }), useOnboard(), useSign()];
  return states.map(({ status }) => status).join();
}
