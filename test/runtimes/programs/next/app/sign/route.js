import { createClient } from "threshold-signing-client";
import settings from "../../../settings.mjs";
import sign from "../../../sign.cjs";

export const dynamic = "force-dynamic";

export async function GET() {
  return new Response(await sign(createClient, settings));
}
