// Ticks every few seconds, for whatever says how long ago something was.
import { Observable } from "./observable";

const PERIOD = 10_000;

export const ticks = new Observable(0);

setInterval(() => {
  if (!document.hidden) ticks.value++;
}, PERIOD);
