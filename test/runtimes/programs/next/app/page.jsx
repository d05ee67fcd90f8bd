"use client";
import { useState } from "react";
import { createClient } from "threshold-signing-client";
import { createWorkerEngine } from "threshold-signing-client/worker";

export default function Page() {
  const [client, setClient] = useState();
  const make = () =>
    setClient(
      createClient({
        baseUrl: location.origin,
        apiKey: "",
        network: "localnet",
        engine: createWorkerEngine(),
      }),
    );
  return (
    <button type="button" onClick={make}>
      {client ? "made" : "make"}
    </button>
  );
}
