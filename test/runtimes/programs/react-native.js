import { createClient } from "threshold-signing-client";
import settings from "./settings.mjs";
import sign from "./sign.cjs";

sign(createClient, settings).then(globalThis.print, globalThis.print);
