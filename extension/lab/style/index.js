import '../../nxkernel_lab/static/palette.css';
import '../../nxkernel_lab/static/timeline.css';
import './index.css';
