/**
 * Profiles in protobuf forms, encoded by protobufjs from the field numbers of the formats' own descriptions: Perfetto's
 * trace_packet.proto and what it imports, XLA's xplane.proto. Only the fields that the tests use.
 */
import protobuf from 'protobufjs'

const perfettoSchema = `
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional FtraceEventBundle ftrace_events = 1;
  optional ClockSnapshot clock_snapshot = 6;
  optional uint64 timestamp = 8;
  optional uint32 trusted_packet_sequence_id = 10;
  optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12;
  optional uint32 sequence_flags = 13;
  optional bytes compressed_packets = 50;
  optional uint32 timestamp_clock_id = 58;
  optional TracePacketDefaults trace_packet_defaults = 59;
  optional TrackDescriptor track_descriptor = 60;
}
message FtraceEventBundle { optional uint32 cpu = 1; }
message ClockSnapshot {
  message Clock {
    optional uint32 clock_id = 1; optional uint64 timestamp = 2;
    optional bool is_incremental = 3; optional uint64 unit_multiplier_ns = 4;
  }
  repeated Clock clocks = 1;
}
message TrackEvent {
  repeated uint64 category_iids = 3;
  repeated DebugAnnotation debug_annotations = 4;
  optional LegacyEvent legacy_event = 6;
  optional uint32 type = 9;
  optional uint64 name_iid = 10;
  optional uint64 track_uuid = 11;
  repeated string categories = 22;
  optional string name = 23;
  optional int64 counter_value = 30;
}
message LegacyEvent { optional uint64 name_iid = 1; optional int32 phase = 2; optional int64 duration_us = 3; }
message DebugAnnotation {
  optional uint64 name_iid = 1; optional bool bool_value = 2; optional uint64 uint_value = 3;
  optional int64 int_value = 4; optional double double_value = 5; optional string string_value = 6; optional string name = 10;
}
message InternedString { optional uint64 iid = 1; optional string name = 2; }
message InternedData {
  repeated InternedString event_categories = 1;
  repeated InternedString event_names = 2;
  repeated InternedString debug_annotation_names = 3;
}
message TrackEventDefaults { optional uint64 track_uuid = 11; }
message TracePacketDefaults { optional TrackEventDefaults track_event_defaults = 11; optional uint32 timestamp_clock_id = 58; }
message TrackDescriptor {
  optional uint64 uuid = 1; optional string name = 2; optional ProcessDescriptor process = 3;
  optional ThreadDescriptor thread = 4; optional uint64 parent_uuid = 5;
}
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor { optional int32 pid = 1; optional int32 tid = 2; optional string thread_name = 5; }
`

const xplaneSchema = `
syntax = "proto3";
message XSpace { repeated XPlane planes = 1; repeated string errors = 2; }
message XPlane {
  int64 id = 1; string name = 2; repeated XLine lines = 3;
  map<int64, XEventMetadata> event_metadata = 4; map<int64, XStatMetadata> stat_metadata = 5;
}
message XLine { int64 id = 1; string name = 2; int64 timestamp_ns = 3; repeated XEvent events = 4; string display_name = 11; }
message XEvent {
  int64 metadata_id = 1;
  oneof data { int64 offset_ps = 2; int64 num_occurrences = 5; }
  int64 duration_ps = 3; repeated XStat stats = 4;
}
message XStat {
  int64 metadata_id = 1;
  oneof value { double double_value = 2; uint64 uint64_value = 3; int64 int64_value = 4; string str_value = 5; uint64 ref_value = 7; }
}
message XEventMetadata { int64 id = 1; string name = 2; string display_name = 4; }
message XStatMetadata { int64 id = 1; string name = 2; }
`

const types = {
  trace: protobuf.parse(perfettoSchema, { keepCase: true }).root.lookupType('Trace'),
  space: protobuf.parse(xplaneSchema, { keepCase: true }).root.lookupType('XSpace')
}

/** A value of the schema, by its field names. */
type Fields = Record<string, unknown>

/** A file of packets. */
export function perfettoTrace(packets: readonly Fields[]): Uint8Array<ArrayBuffer> {
  return encoded(types.trace, { packet: packets })
}

export function xspace(fields: Fields): Uint8Array<ArrayBuffer> {
  return encoded(types.space, fields)
}

function encoded(type: protobuf.Type, fields: Fields): Uint8Array<ArrayBuffer> {
  return new Uint8Array(type.encode(type.fromObject(fields)).finish())
}
