// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, it } from "vitest";
import { useRoute } from "../../../src/console/address/use-route.ts";

/** Renders the route, and runs `whileRendering` after the first rendering, before the effects. Returns what is shown. */
async function routeAfter(whileRendering: () => void): Promise<() => string> {
  let shown = "";
  const Page = () => {
    shown = useRoute().join("/");
    return null;
  };
  await act(() => {
    render(h(Page, {}), document.createElement("div"));
    whileRendering();
  });
  return () => shown;
}

it("the page shows an address that changes before its first effects run", async () => {
  history.replaceState(null, "", "#/overview");
  // Nobody listens yet.
  const shown = await routeAfter(() => history.replaceState(null, "", "#/signs/1"));
  expect(shown()).toBe("signs/1");
});

it("the page shows each new address, without its filters", async () => {
  history.replaceState(null, "", "#/overview");
  const shown = await routeAfter(() => {});
  expect(shown()).toBe("overview");
  await act(() => {
    history.replaceState(null, "", "#/transactions?state=2");
    dispatchEvent(new HashChangeEvent("hashchange"));
  });
  expect(shown()).toBe("transactions");
});
