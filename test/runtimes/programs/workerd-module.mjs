import { createClient } from "threshold-signing-client";
import settings from "./settings.mjs";
import sign from "./sign.cjs";

export default {
  async fetch() {
    return new Response(await sign(createClient, settings));
  },
};
