import { defineConfig } from "vitest/config";

const service = process.env.GEOCAST_URL ?? "http://127.0.0.1:8400";

export default defineConfig({
  base: "./",
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: "../src/geocast/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
  },
  server: { proxy: { "/v1": service } },
  test: { environment: "happy-dom", include: ["tests/**/*.test.ts"] },
});
