/** What read(2) of an event and PERF_SAMPLE_READ hold (perf_event_read_value). */
import { Format } from '../../abi/perf.ts';
import type { PerfEvent } from './event.ts';

/** The events a read tells of: the whole group with PERF_FORMAT_GROUP. */
const members = (event: PerfEvent): readonly PerfEvent[] =>
  event.attr.readFormat & Format.GROUP ? [event.leader, ...event.leader.siblings] : [event];

const times = ({ attr, times: { enabled, running } }: PerfEvent): bigint[] => [
  ...(attr.readFormat & Format.ENABLED ? [enabled] : []),
  ...(attr.readFormat & Format.RUNNING ? [running] : []),
];

/** The words of a read, in the order of struct read_format. */
export const readValues = (event: PerfEvent): readonly bigint[] => {
  const { readFormat } = event.attr;
  const all = members(event);
  const tailOf = (one: PerfEvent): bigint[] => [
    ...(readFormat & Format.ID ? [one.id] : []),
    ...(readFormat & Format.LOST ? [BigInt(one.lostSamples)] : []),
  ];
  if (readFormat & Format.GROUP)
    return [
      BigInt(all.length),
      ...times(event),
      ...all.flatMap((one) => [BigInt(one.count), ...tailOf(one)]),
    ];
  return [BigInt(event.count), ...times(event), ...tailOf(event)];
};
