/** What each view is. A view is a folder under views/, its id in ground/route.ts and a row here. */
import type { Component } from 'vue'
import type { IconName } from '../components/icons'
import { viewIds, type ViewId } from '../ground/route'

export interface View {
  id: ViewId
  title: string
  icon: IconName
  /** What a person comes for, in the palette and as the rail's tooltip. */
  purpose: string
  load: () => Promise<{ default: Component }>
}

const described: Readonly<Record<ViewId, Omit<View, 'id'>>> = {
  devices: {
    title: 'Devices',
    icon: 'chip',
    purpose: 'Devices, capability matrix, libraries',
    load: () => import('../views/devices/DevicesView.vue')
  },
  validate: {
    title: 'Validate',
    icon: 'check',
    purpose: 'Check every format and kernel against the float64 reference',
    load: () => import('../views/validate/ValidateView.vue')
  },
  sweep: {
    title: 'Sweep',
    icon: 'chart',
    purpose: 'Measure kernels over K',
    load: () => import('../views/sweep/SweepView.vue')
  },
  formats: {
    title: 'Formats',
    icon: 'numbers',
    purpose: 'Bits, ranges, codes and quantisation error of the formats',
    load: () => import('../views/formats/FormatsView.vue')
  },
  layouts: {
    title: 'Layouts',
    icon: 'grid',
    purpose: 'Where each scale lies: layouts, offsets, real bytes',
    load: () => import('../views/layouts/LayoutsView.vue')
  },
  profile: {
    title: 'Profile',
    icon: 'flame',
    purpose: 'Profile trees, filters and differences',
    load: () => import('../views/profile/ProfileView.vue')
  },
  timeline: {
    title: 'Timeline',
    icon: 'lanes',
    purpose: 'Traces in time: lanes, ranges, idle times, launches',
    load: () => import('../views/timeline/TimelineView.vue')
  },
  runs: {
    title: 'Runs',
    icon: 'stack',
    purpose: 'History, comparison, import and export',
    load: () => import('../views/runs/RunsView.vue')
  },
  capture: {
    title: 'Capture',
    icon: 'record',
    purpose: 'Kernels of any program: what each launch shape took',
    load: () => import('../views/capture/CaptureView.vue')
  }
}

export const views: readonly View[] = viewIds.map((id) => ({ id, ...described[id] }))

export const firstView: ViewId = 'validate'

/** The view of this id, or the first one where the address names none. */
export const viewNamed = (id: ViewId | ''): View => {
  const named = id || firstView
  return { id: named, ...described[named] }
}
